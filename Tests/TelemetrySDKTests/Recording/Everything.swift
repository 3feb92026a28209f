import Foundation

/// One value with every type that the encoder maps.
struct Everything: Encodable {
  var date = Date(timeIntervalSince1970: 1_777_886_102.114)
  var url = URL(string: "https://example.test/a%20b?q=1#f")
  var uuid = UUID(uuidString: "b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11")
  var data = Data([0, 1, 254, 255])
  var decimal = Decimal(string: "1234.5600", locale: nil)
  var int = Int64.min
  var uint = UInt64.max
  var double = 0.1
  var float = Float(0.1)
  var bool = true
  var text = "a\"\\/\u{8}\u{0}\u{2028}é🍔"
  var missing: Int?
  var list: [[String: Date]] = [["at": Date(timeIntervalSince1970: 0)]]

  static let sample = Everything()

  static let golden =
    #"{"outer":{"inner":{"date":"2026-05-04T09:15:02.114Z","#
    + #""url":"https://example.test/a%20b?q=1#f","#
    + #""uuid":"B1946AC9-2492-4D23-8E3A-6C1F5A0F7E11","data":"AAH+/w==","decimal":1234.56,"#
    + #""int":-9223372036854775808,"uint":18446744073709551615,"double":0.1,"float":0.1,"#
    + #""bool":true,"text":"a\"\\/\b\u0000"# + "\u{2028}é🍔"
    + #"","list":[{"at":"1970-01-01T00:00:00.000Z"}]}}}"#
}

/// A small generator whose seed a test prints and takes from the environment.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  /// The seed of that environment variable, else a fixed one; printed.
  static func seed(_ variable: String) -> UInt64 {
    let seed = ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) } ?? 20_260_504
    print("\(variable)=\(seed)")
    return seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
