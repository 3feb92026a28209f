#if os(macOS) || os(Linux)
  /// The verifier's own HTTP/1.1 client. It does what high-level clients hide: it resets after an
  /// upload, holds the last byte back, writes slowly, and shows every answer as it came.
  struct ProbeClient: Sendable {
    /// How long an unread answer is waited for before the reset.
    static let resetPatienceNs: Int64 = 1_000_000_000

    var caFile: String?

    func open(_ target: Target, by deadline: Deadline) throws -> any ByteStream {
      let socket = try RawSocket.connect(host: target.host, port: target.port, by: deadline)
      guard target.secure else { return socket }
      #if os(Linux)
        return try VerifyTLS(over: socket, host: target.host, caFile: caFile, by: deadline)
      #else
        throw SocketFault.tls("https targets are supported on Linux only")
      #endif
    }

    /// Sends one request on a connection of its own.
    func perform(
      _ request: ProbeRequest, to target: Target, authorization: String?, by deadline: Deadline
    ) -> Reply {
      do {
        let stream = try open(target, by: deadline)
        defer { stream.close() }
        let head = request.head(target: target, authorization: authorization, keepAlive: false)
        return try exchange(request, head: Array(head.utf8), on: stream, by: deadline)
      } catch { return .fault(ProbeClient.fault(error)) }
    }

    /// Sends requests one after the other on one connection.
    func performInTurn(
      _ requests: [ProbeRequest], to target: Target, authorization: String?, by deadline: Deadline
    ) -> [Reply] {
      var replies: [Reply] = []
      do {
        let stream = try open(target, by: deadline)
        defer { stream.close() }
        var reader = AnswerReader(stream)
        for request in requests {
          let head = request.head(target: target, authorization: authorization, keepAlive: true)
          try stream.send((Array(head.utf8) + request.framedBody)[...], by: deadline)
          replies.append(.answer(try reader.next(bodyless: false, by: deadline)))
        }
      } catch { replies.append(.fault(ProbeClient.fault(error))) }
      return replies
    }

    /// Writes a request on every connection up to its last byte, then lets all last bytes go.
    func performTogether(
      _ request: ProbeRequest, copies: Int, to target: Target, authorization: String?,
      by deadline: Deadline
    ) -> [Reply] {
      let head = request.head(target: target, authorization: authorization, keepAlive: false)
      let bytes = Array(head.utf8) + request.framedBody
      var streams: [any ByteStream] = []
      defer { for stream in streams { stream.close() } }
      do {
        for _ in 0..<copies {
          let stream = try open(target, by: deadline)
          streams.append(stream)
          try stream.send(bytes.dropLast(), by: deadline)
        }
        for stream in streams { try stream.send(bytes.suffix(1), by: deadline) }
      } catch { return [.fault(ProbeClient.fault(error))] }
      return streams.map { stream in
        var reader = AnswerReader(stream)
        do { return .answer(try reader.next(bodyless: false, by: deadline)) } catch {
          return .fault(ProbeClient.fault(error))
        }
      }
    }

    private func exchange(
      _ request: ProbeRequest, head: [UInt8], on stream: any ByteStream, by deadline: Deadline
    ) throws -> Reply {
      var reader = AnswerReader(stream)
      let body = request.framedBody
      switch request.manner {
      case .plain:
        // A server that refuses early may close before it has read all; its answer still counts.
        do { try stream.send((head + body)[...], by: deadline) } catch SocketFault.reset {}
      case .slow(let pieces, let pauseMs):
        try stream.send(head[...], by: deadline)
        let size = max(1, (body.count + pieces - 1) / max(1, pieces))
        for start in stride(from: 0, to: body.count, by: size) {
          let pause = Deadline.after(ns: Int64(pauseMs) * 1_000_000)
          RawSocket.pause(until: pause.orEarlier(deadline))
          if deadline.isOver { throw SocketFault.timedOut }
          try stream.send(body[start..<min(start + size, body.count)], by: deadline)
        }
      case .resetAfterUpload:
        try stream.send((head + body)[...], by: deadline)
        // Once an answer lies unread the batch was taken for sure: that is the loss we want.
        let patience = Deadline.after(ns: ProbeClient.resetPatienceNs).orEarlier(deadline)
        do { _ = try stream.receive(by: patience) } catch SocketFault.timedOut {}
        stream.reset()
        return .fault(.socket(.reset))
      case .halfThenClose:
        try stream.send((head + body.prefix(body.count / 2))[...], by: deadline)
        stream.close()
        return .fault(.closedWithoutAnswer)
      case .expectContinue(let patienceMs):
        return try expecting(patienceMs, head: head, body: body, on: stream, by: deadline)
      }
      return .answer(try reader.next(bodyless: request.method == "HEAD", by: deadline))
    }

    /// The body follows a 100, or the silence a client need not wait out (RFC 9110, section
    /// 10.1.1); a final answer instead of the 100 is the answer.
    private func expecting(
      _ patienceMs: Int, head: [UInt8], body: [UInt8], on stream: any ByteStream,
      by deadline: Deadline
    ) throws -> Reply {
      var reader = AnswerReader(stream)
      try stream.send(head[...], by: deadline)
      let patience = Deadline.after(ns: Int64(patienceMs) * 1_000_000).orEarlier(deadline)
      do {
        try reader.waitForBytes(by: patience)
        let first = try reader.first(by: deadline)
        if first.status != 100 { return .answer(first) }
      } catch AnswerFault.socket(.timedOut) {}
      try stream.send(body[...], by: deadline)
      return .answer(try reader.next(bodyless: false, by: deadline))
    }

    private static func fault(_ error: any Error) -> AnswerFault {
      if let fault = error as? AnswerFault { return fault }
      if let fault = error as? SocketFault { return .socket(fault) }
      return .malformed("\(error)")
    }
  }
#endif
