import Foundation

// `make bench`: every row next to its limit, measured in this run. Rows can be named as arguments.
setvbuf(stdout, nil, _IOLBF, 0)

// Started by ourselves: one half of a row that needs a process of its own.
if CommandLine.arguments.count == 4, CommandLine.arguments[1] == "--drain" {
  DrainRow.drain(CommandLine.arguments[2], CommandLine.arguments[3])
  exit(0)
}

let rows: [(name: String, run: () throws -> [Row])] = [
  ("json", { try JSONRows.rows() }),
  ("record", { try RecordRows.oneThread() }),
  ("record-8", { [try RecordRows.eightThreads()] }),
  ("power-loss", { [try RecordRows.powerLoss()] }),
  ("open", { [try OpenRow.row()] }),
  ("drain", { try DrainRow.rows() }),
  ("server", { try ServerRows.rows() }),
  ("scenario", { [try ScenarioRow.row()] }),
]

let wanted = Array(CommandLine.arguments.dropFirst())
let unknown = wanted.filter { name in !rows.contains { $0.name == name } }
if !unknown.isEmpty {
  print(
    "bench: no row \(unknown.joined(separator: ", ")); there are: \(rows.map(\.name).joined(separator: ", "))"
  )
  exit(3)
}

func pad(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(1, width - text.count))
}
print("\(ProcessInfo.processInfo.processorCount) cores; the shortest of three runs each")
print(pad("work", 46) + pad("measured", 34) + pad("target", 14) + "met")
for row in rows where wanted.isEmpty || wanted.contains(row.name) {
  do {
    for line in try row.run() {
      let met = line.met.map { $0 ? "yes" : "NO" } ?? ""
      print(pad(line.name, 46) + pad(line.figure, 34) + pad(line.target, 14) + met)
      if !line.detail.isEmpty { print("    " + line.detail) }
    }
  } catch {
    print(pad(row.name, 46) + "did not run: \(error)")
  }
}
