import Foundation

/// Stores background sessions and their transfers, so that nothing is lost when any of the processes ends, in any way. Its
/// functions block.
package protocol TransferJournal: Sendable {
    /// All sessions, and the rows of their transfers.
    func load() throws -> JournalContents

    /// Makes changes in order, all or none. They are durable when this function returns.
    func commit(_ changes: [JournalChange]) throws

    /// The complete record of a transfer; nil where there is none, or it cannot be read.
    func transfer(_ key: TransferKey) throws -> TransferRecord?

    /// Transforms each transfer of a session, in the order of the identifiers, and returns the results. Transfers that
    /// cannot be read are skipped. Where only the status of an ended transfer cannot be read, the record has an error.
    func transfers(of session: Int64, _ transform: (TransferRecord) -> TransferRecord) throws -> [TransferRecord]
}

/// Identifies a transfer among those of all sessions.
package struct TransferKey: Hashable, Sendable {
    /// The number of its session in the journal.
    package let session: Int64
    package let identifier: Int

    package init(session: Int64, identifier: Int) {
        (self.session, self.identifier) = (session, identifier)
    }
}

/// The contents of a journal when it is opened.
package struct JournalContents: Sendable {
    package var sessions: [JournaledSession] = []
    package var transfers: [TransferRow] = []
    /// The highest number of a session, including sessions that cannot be read. It is not used again.
    package var highestSession: Int64 = 0

    package init() {}
}

/// A stored background session.
package struct JournaledSession: Codable, Sendable {
    package let number: Int64
    package var description: SessionDescription
    /// Higher than the identifier of every transfer that the session has had.
    package var nextIdentifier = 1
    /// Whether the program has ever answered a challenge about server trust by a method of its own, or with another
    /// disposition than the default.
    package var answersServerTrust = false
    /// Whether the session ends when the program has taken the ends of all its transfers.
    package var isEnding = false
    /// Whether a program is attached, or was when the process ended. Nil in journals of earlier versions.
    package var isAttached: Bool?

    package init(number: Int64, description: SessionDescription) {
        (self.number, self.description) = (number, description)
    }

    /// Notes that a transfer uses the identifier.
    package mutating func didUse(_ identifier: Int) {
        nextIdentifier = max(nextIdentifier, identifier == .max ? .max : identifier + 1)
    }
}

/// The part of a transfer's record that is always in memory.
package struct TransferRow: Hashable, Sendable {
    package let key: TransferKey
    /// From 0 to 1.
    package var priority: Float
    package var earliestBeginDate: Date?
    /// The program's estimate of the bytes to send and to receive; nil where there is none, and for a transfer that an
    /// earlier process has begun.
    package var expectedBytes: Int64?
    package var isSuspended = false
    /// Whether a challenge waits for an answer of the program.
    package var waitsForProgram = false
    /// The time in seconds that counts towards the resource timeout, at the time ``asOf``.
    package var elapsed: TimeInterval = 0
    package var asOf: Date
    /// The position in the order of ends; nil for a transfer that has not ended.
    package var endNumber: Int64?
    /// The first part of the end that the program has not yet taken.
    package var next = TransferStatus.Part.content

    package init(_ key: TransferKey, priority: Float, earliestBeginDate: Date?, asOf: Date) {
        (self.key, self.priority, self.earliestBeginDate, self.asOf) = (key, priority, earliestBeginDate, asOf)
    }
}

/// A change to a journal. A change to a transfer or session that does not exist has no effect.
package enum JournalChange: Sendable {
    case session(JournaledSession)
    /// Removes the session with all its transfers.
    case forgetSession(Int64)
    case begin(TransferRow, TransferRecord)
    case row(TransferRow)
    /// The program's request for the transfer has changed.
    case record(TransferKey, TransferRecord)
    case status(TransferKey, TransferStatus)
    case forget(TransferKey)
}
