import Foundation

/// Keeps background sessions and their transfers, so that nothing of them is lost whichever process ends, and however.
/// Its functions block.
package protocol TransferJournal: Sendable {
    /// All sessions, and the rows of their transfers.
    func load() throws -> JournalContents

    /// Makes changes, all or none, in their order. When it returns they outlive the process and the machine.
    func commit(_ changes: [JournalChange]) throws

    /// All of a transfer; nil where there is none, or it cannot be read.
    func transfer(_ key: TransferKey) throws -> TransferRecord?

    /// Transforms each transfer of a session, in the order of the identifiers, and returns the results. Those that cannot be read are passed over;
    /// of one that is over, an error stands for what has become of it where that cannot be read.
    func transfers(of session: Int64, _ transform: (TransferRecord) -> TransferRecord) throws -> [TransferRecord]
}

/// Distinguishes a transfer from those of all sessions.
package struct TransferKey: Hashable, Sendable {
    /// The number of its session in the journal.
    package let session: Int64
    package let identifier: Int

    package init(session: Int64, identifier: Int) {
        (self.session, self.identifier) = (session, identifier)
    }
}

/// The contents of a journal that was just opened.
package struct JournalContents: Sendable {
    package var sessions: [JournaledSession] = []
    package var transfers: [TransferRow] = []
    /// The highest number of a session, also of one that cannot be read: it is not given to another.
    package var highestSession: Int64 = 0

    package init() {}
}

/// A background session as it is kept.
package struct JournaledSession: Codable, Sendable {
    package let number: Int64
    package var description: SessionDescription
    /// Higher than that of any transfer that the session ever had.
    package var nextIdentifier = 1
    /// Whether the program has ever answered a challenge of server trust by other than default handling.
    package var answersServerTrust = false
    /// Whether the session is forgotten when its transfers are over and taken.
    package var isEnding = false

    package init(number: Int64, description: SessionDescription) {
        (self.number, self.description) = (number, description)
    }

    /// A transfer has the identifier, which no later one gets.
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
    /// How many bytes the program expects to be sent and received; nil where it has not said so, and for one that was begun by an
    /// earlier process.
    package var expectedBytes: Int64?
    package var isSuspended = false
    /// Whether a challenge waits for the program.
    package var waitsForProgram = false
    /// How long it had been at work at ``asOf``, in seconds: what the resource time-out counts.
    package var elapsed: TimeInterval = 0
    package var asOf: Date
    /// Its place in the order of ends; nil for one that has not ended.
    package var endNumber: Int64?
    /// The first part of the end that the program has not yet taken.
    package var next = TransferStanding.Part.content

    package init(_ key: TransferKey, priority: Float, earliestBeginDate: Date?, asOf: Date) {
        (self.key, self.priority, self.earliestBeginDate, self.asOf) = (key, priority, earliestBeginDate, asOf)
    }
}

/// A change to a journal. One that concerns a transfer or a session that is not there has no effect.
package enum JournalChange: Sendable {
    case session(JournaledSession)
    /// With all its transfers.
    case forgetSession(Int64)
    case begin(TransferRow, TransferRecord)
    case row(TransferRow)
    /// The program's request for the transfer has changed.
    case record(TransferKey, TransferRecord)
    case standing(TransferKey, TransferStanding)
    case forget(TransferKey)
}
