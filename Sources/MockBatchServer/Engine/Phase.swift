/// Where in a request's life an effect lies. In this order.
public enum Phase: String, Sendable, Hashable, CaseIterable, Comparable {
  /// The connection was accepted; nothing was read.
  case accept
  /// The head was read.
  case requestHead
  /// The body was read; nothing was decided on the ledger yet.
  case requestBody
  /// The ledger took what the response's `commit` says.
  case committed
  /// Just before the answer's first byte.
  case responseHead
  /// After the answer's head, before its body (or `afterBytes` into it).
  case responseBody
  /// After the answer's last byte.
  case responseEnd

  /// Earlier phases first.
  public static func < (left: Phase, right: Phase) -> Bool { left.index < right.index }

  private var index: Int { Phase.allCases.firstIndex(of: self) ?? 0 }
}
