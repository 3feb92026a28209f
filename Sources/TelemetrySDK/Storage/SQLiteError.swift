/// A refusal by SQLite: its extended code, what was tried, and its words.
package struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The extended result code.
  package let code: Int32
  package let operation: String
  package let message: String

  package init(code: Int32, operation: String, message: String) {
    self.code = code
    self.operation = operation
    self.message = message
  }

  /// The code without its extension.
  package var primary: Int32 { code & 0xff }

  package var description: String { "SQLite \(code) in \(operation): \(message)" }

  /// What the failure means for the store.
  package enum Meaning: Sendable, Equatable {
    /// Temporary: wait, buffer, try again. Never a reason to delete anything.
    case block(StoreBlock)
    /// The file is damaged, or is no database.
    case damaged
    /// A unique index refused the row.
    case constraint
  }

  package var isDiskFull: Bool { meaning == .block(.diskFull) }

  /// True where it is the file's content that cannot be read, now or later: damage, or a part that
  /// the medium does not give (IOERR_READ, IOERR_SHORT_READ).
  package var isOfTheFile: Bool {
    code == 10 | (1 << 8) || code == 10 | (2 << 8) || meaning == .damaged
  }

  /// Codes from sqlite.org/rescode.html. Unknown codes wait: nothing is lost on a guess.
  package var meaning: Meaning {
    switch primary {
    case 5, 6, 15: .block(.locked)  // BUSY, LOCKED, PROTOCOL
    case 13: .block(.diskFull)  // FULL
    // IOERR_SHMSIZE: the shared memory finds no room.
    case 10 where code == 10 | (19 << 8): .block(.diskFull)
    case 10:  // IOERR
      // IOERR_DATA and IOERR_CORRUPTFS: a checksum that fails, or a damaged file system, does not
      // pass by itself.
      code == 10 | (32 << 8) || code == 10 | (33 << 8) ? .damaged : .block(.ioError)
    case 11, 26: .damaged  // CORRUPT, NOTADB
    case 1: .damaged  // ERROR: a table or column of ours is missing
    case 19: .constraint
    case 3, 8, 14, 23: .block(.notOpen)  // PERM, READONLY, CANTOPEN, AUTH
    default: .block(.ioError)
    }
  }
}
