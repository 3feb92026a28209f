import Foundation

/// The mock server beside nginx, WireMock and a raw inflate: measured by a script, for the clients
/// and the peers are programs of their own.
enum ServerRows {
  static func rows() throws -> [Row] {
    guard let pipe = popen("scripts/bench-server --rows", "r") else {
      throw RowFailure("scripts/bench-server cannot be started")
    }
    var rows: [Row] = []
    while let line = readLine(from: pipe) {
      let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard columns.count == 5 else { continue }
      rows.append(
        Row(
          name: columns[0], figure: columns[1], target: columns[2], met: columns[3] == "yes",
          detail: columns[4]))
    }
    let status = pclose(pipe)
    guard status == 0 else {
      throw RowFailure("scripts/bench-server ended with \(status >> 8); it says why above")
    }
    return rows
  }

  private static func readLine(from pipe: UnsafeMutablePointer<FILE>) -> String? {
    var buffer = [CChar](repeating: 0, count: 4_096)
    guard fgets(&buffer, Int32(buffer.count), pipe) != nil else { return nil }
    return String(cString: buffer).trimmingCharacters(in: .newlines)
  }
}
