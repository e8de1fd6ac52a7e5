import Foundation

/// A transfer of a background session: what was asked, and what has become of it. It is what the journal keeps, what is sent
/// to another process, and what a program gets that takes its session up again.
package struct TransferRecord: Codable, Sendable {
    package enum Kind: String, Codable, Sendable {
        case download
        case upload
    }

    /// Where it is, for its program and for a person's eyes.
    package enum Stage: String, Codable, Sendable {
        case queued
        case running
        case suspended
        /// It is tried again later.
        case backingOff
        case waitingForConnectivity
        /// A challenge waits for the program.
        case waitingForProgram
        /// It is over, and the program has not taken its end.
        case ended
        case failed

        package var isOver: Bool { self == .ended || self == .failed }
    }

    /// Unique in the session, and never used again there.
    package var identifier: Int
    package var kind: Kind
    package var request: TransferRequest
    /// The file that an upload sends.
    package var uploadFile: String?
    /// The resume data with which the transfer was made.
    package var resumeData: Data?
    /// Where a download goes when it is complete, without the program: the tool's. Nil: the program's delegate gets it.
    package var destination: String?
    package var created = Date()
    package var taskDescription: String?
    /// From 0 to 1.
    package var priority: Float = 0.5
    package var earliestBeginDate: Date?
    package var clientExpectsToSend: Int64 = -1
    package var clientExpectsToReceive: Int64 = -1
    /// Both together; nil where the program has said nothing.
    package var expectedBytes: Int64? {
        let expected = [clientExpectsToSend, clientExpectsToReceive].filter { $0 >= 0 }
        return expected.isEmpty ? nil : expected.reduce(0) { $0 > .max - $1 ? .max : $0 + $1 }
    }

    /// As it was when it was told.
    package var stage = Stage.queued
    package var standing = TransferStanding()

    package init(identifier: Int, kind: Kind, request: TransferRequest) {
        (self.identifier, self.kind, self.request) = (identifier, kind, request)
    }
}

/// How far a transfer has come.
package struct TransferProgress: Codable, Hashable, Sendable {
    package var sent: Int64 = 0
    /// -1 where it is not known.
    package var expectedToSend: Int64 = -1
    package var received: Int64 = 0
    /// -1 where it is not known.
    package var expectedToReceive: Int64 = -1

    package init() {}
}

/// The state of a transfer: its progress, the point from which it continues, and its end.
package struct TransferStanding: Codable, Sendable {
    /// The parts of an end that are reported to the program, in this order. The program takes each part by itself.
    package enum Part: Int, Codable, Comparable, Sendable {
        /// The file of a download, or the body of the response to an upload.
        case content = 0
        case metrics = 1
        case completion = 2

        package static func < (one: Part, other: Part) -> Bool { one.rawValue < other.rawValue }
    }

    package var progress = TransferProgress()
    /// After redirects another than the transfer's.
    package var currentRequest: TransferRequest?
    package var response: TransferResponse?
    /// The error of the last attempt. If the transfer is over, nil means success.
    package var error: TransferError?
    /// Those of all attempts.
    package var metrics: TransferMetrics?

    // Of a transfer that is not over.

    /// The record of the part file; nil if the transfer cannot continue from it.
    package var part: PartRecord?
    /// The file that an upload sends, as it was when the upload was begun.
    package var uploadFile: UploadFileState?
    /// Where the server has what was sent of an upload; nil where it has said nothing.
    package var uploadResource: URL?
    /// Whether the bytes in the part file came with the program's resume data, and the program was not yet told of it.
    package var resumesForProgram = false

    // Of one that is over. It is kept until the program has taken all of it.

    /// The complete download, or the body of the response to an upload; nil where there is none.
    package var file: String?
    /// The first part that the program has not yet taken. The journal has it in the transfer's row.
    package var next = Part.content

    package init(error: TransferError? = nil, response: TransferResponse? = nil, file: String? = nil) {
        (self.error, self.response, self.file) = (error, response, file)
    }
}

/// The state of a file at a time. The file is another one, or was changed, if any of these values differs.
package struct UploadFileState: Codable, Hashable, Sendable {
    package var device: UInt64
    /// Of its inode.
    package var number: UInt64
    /// In bytes.
    package var size: Int64
    /// When it was last written to, in seconds of 1970.
    package var modified: Int64
    package var modifiedNanoseconds: Int64

    package init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec)
        modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
    }
}

/// The journal's statement about the bytes of a part file.
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
        (self.resumeData, self.bootIdentifier) = (resumeData, bootIdentifier)
    }
}
