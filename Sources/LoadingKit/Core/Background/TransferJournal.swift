import Foundation

/// Keeps background sessions and their transfers, so that nothing of them is lost whichever process ends, and however.
/// Its functions block.
package protocol TransferJournal: Sendable {
    /// All sessions, and of their transfers what is small.
    func load() throws -> JournalContents

    /// Makes changes, all or none, in their order. When it returns they outlive the process and the machine.
    func commit(_ changes: [JournalChange]) throws

    /// All of a transfer; nil where there is none.
    func transfer(_ key: TransferKey) throws -> JournaledTransfer?

    /// What is made of each transfer of a session, in the order of their identifiers. Those that cannot be read are passed over.
    func transfers<Value: Sendable>(
        of session: Int64, _ transform: (JournaledTransfer) throws -> Value
    ) throws -> [Value]

    /// How a transfer has ended; nil where it has not.
    func end(of key: TransferKey) throws -> TransferEnd?
}

extension TransferJournal {
    package func transfers(of session: Int64) throws -> [JournaledTransfer] { try transfers(of: session) { $0 } }
}

/// Distinguishes a transfer from those of all sessions.
package struct TransferKey: Hashable, Sendable {
    /// The number of its session in the journal.
    package let session: Int64
    package let identifier: Int

    package init(session: Int64, identifier: Int) {
        self.session = session
        self.identifier = identifier
    }
}

/// What a journal has at first.
package struct JournalContents: Sendable {
    package var sessions: [JournaledSession]
    package var transfers: [TransferSummary]
    /// The highest number of a session, also of one that cannot be read: it is not given to another.
    package var highestSession: Int64 = 0

    package init(sessions: [JournaledSession] = [], transfers: [TransferSummary] = []) {
        self.sessions = sessions
        self.transfers = transfers
    }
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
        self.number = number
        self.description = description
    }

    /// A transfer has the identifier, which no later one gets.
    package mutating func didUse(_ identifier: Int) {
        nextIdentifier = max(nextIdentifier, identifier == .max ? .max : identifier + 1)
    }
}

/// What is always in memory of a transfer.
package struct TransferSummary: Hashable, Sendable {
    package let key: TransferKey
    /// From 0 to 1.
    package var priority: Float
    package var earliestBeginDate: Date?
    package var isSuspended = false
    /// Whether a challenge waits for the program.
    package var waitsForProgram = false
    /// How long it had been at work at ``asOf``, in seconds: what the resource time-out counts.
    package var elapsed: TimeInterval = 0
    package var asOf: Date
    /// Its place in the order of ends; nil for one that has not ended.
    package var endNumber: Int64?

    package init(_ transfer: TransferDescription, session: Int64, asOf: Date) {
        key = TransferKey(session: session, identifier: transfer.identifier)
        priority = transfer.priority
        earliestBeginDate = transfer.earliestBeginDate
        self.asOf = asOf
    }

    package init(key: TransferKey, priority: Float, earliestBeginDate: Date?, asOf: Date) {
        self.key = key
        self.priority = priority
        self.earliestBeginDate = earliestBeginDate
        self.asOf = asOf
    }
}

/// A transfer as it is kept.
package struct JournaledTransfer: Sendable {
    package var summary: TransferSummary
    package var description: TransferDescription
    package var standing: TransferStanding

    package init(summary: TransferSummary, description: TransferDescription, standing: TransferStanding) {
        self.summary = summary
        self.description = description
        self.standing = standing
    }
}

/// How far a transfer has come, and what it goes on from.
package struct TransferStanding: Codable, Sendable {
    package var progress = TransferProgress()
    package var currentRequest: TransferRequest?
    package var response: TransferResponse?
    /// What is in the part file; nil where nothing is worth going on from.
    package var part: PartRecord?
    /// The file that an upload sends, as it was when the upload was begun.
    package var uploadFile: UploadFileState?
    /// Where the server has what was sent of an upload; nil where it has said nothing.
    package var uploadResource: URL?
    /// Whether the bytes in the part file came with the program's resume data, and the program was not yet told of it.
    package var resumesForProgram = false
    package var lastError: TransferError?
    /// Those of the attempts before.
    package var metrics: TransferMetrics?

    package init() {}
}

/// What a file was at a time: it is another one, or was changed, where any of that differs.
package struct UploadFileState: Codable, Hashable, Sendable {
    package var device: UInt64
    /// Of its inode.
    package var number: UInt64
    /// In bytes.
    package var size: Int64
    /// When it was last written to, in seconds of 1970.
    package var modified: Int64
    package var modifiedNanoseconds: Int64

    package init(device: UInt64, number: UInt64, size: Int64, modified: Int64, modifiedNanoseconds: Int64) {
        self.device = device
        self.number = number
        self.size = size
        self.modified = modified
        self.modifiedNanoseconds = modifiedNanoseconds
    }
}

/// What the journal vouches for in a part file.
package struct PartRecord: Codable, Hashable, Sendable {
    /// Of which version of the resource the bytes are, as resume data.
    package var resumeData: Data
    /// The system's start in which this was recorded: after another one, what is behind ``count`` may be anything.
    package var bootIdentifier: String
    /// Bytes from the beginning that are on the disk.
    package var count: Int64 = 0
    /// A checksum of each piece of ``count``, four bytes each, the most significant first; the last piece may be shorter.
    package var checksums = Data()

    package init(resumeData: Data, bootIdentifier: String) {
        self.resumeData = resumeData
        self.bootIdentifier = bootIdentifier
    }
}

/// A change to a journal. One that concerns a transfer or a session that is not there has no effect.
package enum JournalChange: Sendable {
    case session(JournaledSession)
    /// With all its transfers.
    case forgetSession(Int64)
    case begin(JournaledTransfer)
    case summary(TransferSummary)
    case standing(TransferKey, TransferStanding)
    case description(TransferKey, TransferDescription)
    /// The transfer has ended, as the so-manieth of all.
    case end(TransferKey, number: Int64, TransferEnd)
    case forget(TransferKey)
}
