import Foundation
import JSONText
import TelemetrySDK
import TelemetryTestSupport

/// `storedform [FOLDER]`: what a stored event costs in each form, under the seal, in a real store.
/// The folder holds recordings as JSON arrays of `{data, metadata}`; without it events are made up.
let events = Recordings.load(CommandLine.arguments.dropFirst().first)
print("\(events.count) events, \(events.source)")
print(
  "form                                bytes  in 20 MB   µs to form   µs to store   together    to read"
)
let plain = try Trial.run(JSONForm(), on: events)
print(plain.line(against: nil))
let binary: [any StoredForm] = [EnvelopeForm(), CBORForm(), CompactEventForm()]
for form in binary + DeflateForm.all(for: events) as [any StoredForm] {
  print(try Trial.run(form, on: events).line(against: plain))
}
