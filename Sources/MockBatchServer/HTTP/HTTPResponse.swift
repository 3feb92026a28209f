/// One answer, before a performer frames it for the wire.
package struct HTTPResponse: Sendable, Equatable {
  /// Status code, 100–599.
  package var status: Int
  /// Fields in order. `Content-Length`, `Date` and `Connection` are added when absent.
  package var headers: HTTPHeaders
  /// The body; for HEAD it sets `Content-Length` and is not sent.
  package var body: [UInt8]

  /// An answer.
  package init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Whether a status never has a body (RFC 9110 section 6.4.1): 1xx, 204, 304.
  package static func isBodiless(_ status: Int) -> Bool {
    status == 204 || status == 304 || (100..<200).contains(status)
  }

  /// The reason phrase of a status code; "Unknown" for codes without one.
  package static func reason(_ status: Int) -> StaticString {
    switch status {
    case 100: return "Continue"
    case 101: return "Switching Protocols"
    case 103: return "Early Hints"
    case 200: return "OK"
    case 201: return "Created"
    case 202: return "Accepted"
    case 203: return "Non-Authoritative Information"
    case 204: return "No Content"
    case 205: return "Reset Content"
    case 206: return "Partial Content"
    case 207: return "Multi-Status"
    case 300: return "Multiple Choices"
    case 301: return "Moved Permanently"
    case 302: return "Found"
    case 303: return "See Other"
    case 304: return "Not Modified"
    case 307: return "Temporary Redirect"
    case 308: return "Permanent Redirect"
    default: return errorReason(status)
    }
  }

  private static func errorReason(_ status: Int) -> StaticString {
    switch status {
    case 400: return "Bad Request"
    case 401: return "Unauthorized"
    case 403: return "Forbidden"
    case 404: return "Not Found"
    case 405: return "Method Not Allowed"
    case 406: return "Not Acceptable"
    case 408: return "Request Timeout"
    case 409: return "Conflict"
    case 410: return "Gone"
    case 411: return "Length Required"
    case 412: return "Precondition Failed"
    case 413: return "Content Too Large"
    case 414: return "URI Too Long"
    case 415: return "Unsupported Media Type"
    case 417: return "Expectation Failed"
    case 421: return "Misdirected Request"
    case 422: return "Unprocessable Content"
    case 426: return "Upgrade Required"
    case 428: return "Precondition Required"
    case 429: return "Too Many Requests"
    case 431: return "Request Header Fields Too Large"
    case 500: return "Internal Server Error"
    case 501: return "Not Implemented"
    case 502: return "Bad Gateway"
    case 503: return "Service Unavailable"
    case 504: return "Gateway Timeout"
    case 505: return "HTTP Version Not Supported"
    case 507: return "Insufficient Storage"
    case 511: return "Network Authentication Required"
    default: return "Unknown"
    }
  }
}
