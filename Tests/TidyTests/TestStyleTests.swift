import XCTest

/// The tests' own rules.
final class TestStyleTests: XCTestCase {
  func testTests_whenNamed_saySubjectConditionExpectation() throws {
    var findings: [String] = []
    for file in try Checkout.files(below: "Tests") {
      for (index, line) in file.lines.enumerated() {
        let code = line.drop { $0 == " " }
        guard code.hasPrefix("func test") else { continue }
        let name = code.dropFirst(5).prefix { $0 != "(" }
        if name.split(separator: "_").count != 3 {
          findings.append("\(file.path):\(index + 1) \(name)")
        }
      }
    }
    XCTAssert(
      findings.isEmpty,
      "not testSubject_whenCondition_expectation:\n" + findings.joined(separator: "\n"))
  }

  func testTests_whenTheyWait_neverSleepOrReadTheWallClock() throws {
    let forbidden = ["sleep(", "Date()", "Date.now", "XCTAssertTrue(true)", "measure {"]
    var findings: [String] = []
    for file in try Checkout.files(below: "Tests") where !file.path.hasPrefix("Tests/TidyTests") {
      for (index, line) in file.lines.enumerated() {
        let code = Checkout.code(of: line)
        for word in forbidden where Checkout.code(code, calls: word) {
          findings.append("\(file.path):\(index + 1) \(word)")
        }
      }
    }
    XCTAssert(
      findings.isEmpty, "sleeps, wall clock or empty asserts:\n" + findings.joined(separator: "\n"))
  }

  func testTests_whenManyThreadsAreMeant_startThem() throws {
    var findings: [String] = []
    for file in try Checkout.files(below: "Tests") + Checkout.files(below: "Benchmarks")
    where !file.path.hasPrefix("Tests/TidyTests") && file.path != "Tests/CrashLab/Workers.swift" {
      for (index, line) in file.lines.enumerated()
      where Checkout.code(of: line).contains("concurrentPerform(") {
        findings.append("\(file.path):\(index + 1)")
      }
    }
    XCTAssert(
      findings.isEmpty,
      "no more threads at a time than there are cores; use onThreads:\n"
        + findings.joined(separator: "\n"))
  }
}
