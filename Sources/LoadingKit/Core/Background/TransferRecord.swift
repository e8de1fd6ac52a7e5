import Foundation

/// A transfer of a background session: the program's request, and its status. The journal stores it, and it is sent to
/// other processes: with it, a later run of the program restores its task.
package struct TransferRecord: Codable, Sendable {
    package enum Kind: String, Codable, Sendable {
        case download
        case upload
    }

    /// The stage of the transfer, for the program and for display.
    package enum Stage: String, Codable, Sendable {
        case queued
        case running
        case suspended
        /// The transfer will be tried again later.
        case backingOff
        case waitingForConnectivity
        /// A challenge waits for an answer of the program.
        case waitingForProgram
        /// The transfer has ended, and the program has not taken its end.
        case ended
        case failed

        package var isOver: Bool { self == .ended || self == .failed }
    }

    /// Unique among all transfers that the session has had.
    package var identifier: Int
    package var kind: Kind
    package var request: TransferRequest
    /// The URL before redirects, where resume data continues a transfer whose request was redirected
    /// (``URLSessionTask/firstURL``). Nil: that of the request.
    package var firstURL: URL?
    /// The file that an upload sends.
    package var uploadFile: String?
    /// The resume data with which the transfer was made.
    package var resumeData: Data?
    /// The path to which the performer moves a complete download, as the command-line tool requests it. Nil: the program's
    /// delegate gets the file.
    package var destination: String?
    package var created = Date()
    package var taskDescription: String?
    /// From 0 to 1.
    package var priority: Float = 0.5
    package var earliestBeginDate: Date?
    package var clientExpectsToSend: Int64 = -1
    package var clientExpectsToReceive: Int64 = -1
    /// The sum of both; nil where the program has given no estimate.
    package var expectedBytes: Int64? {
        let expected = [clientExpectsToSend, clientExpectsToReceive].filter { $0 >= 0 }
        return expected.isEmpty ? nil : expected.reduce(0) { $0 > .max - $1 ? .max : $0 + $1 }
    }

    /// The stage when the record was made.
    package var stage = Stage.queued
    package var status = TransferStatus()

    /// The names in messages and in the journal. They stay as they are: other versions read them.
    private enum CodingKeys: String, CodingKey {
        case identifier, kind, request, firstURL, uploadFile, resumeData, destination, created, taskDescription
        case priority, earliestBeginDate, clientExpectsToSend, clientExpectsToReceive, stage
        case status = "standing"
    }

    package init(identifier: Int, kind: Kind, request: TransferRequest) {
        (self.identifier, self.kind, self.request) = (identifier, kind, request)
    }
}

/// How far a transfer has come.
package struct TransferProgress: Codable, Hashable, Sendable {
    package var sent: Int64 = 0
    /// -1 if it is not known.
    package var expectedToSend: Int64 = -1
    package var received: Int64 = 0
    /// -1 if it is not known.
    package var expectedToReceive: Int64 = -1

    package init() {}
}

/// The state of a transfer: its progress, the point from which it continues, and its end.
package struct TransferStatus: Codable, Sendable {
    /// The parts of an end that are reported to the program, in this order. The program takes each part by itself.
    package enum Part: Int, Codable, Comparable, Sendable {
        /// The file of a download, or the body of the response to an upload.
        case content = 0
        case metrics = 1
        case completion = 2

        package static func < (one: Part, other: Part) -> Bool { one.rawValue < other.rawValue }
    }

    package var progress = TransferProgress()
    /// The request after redirects, without its body; nil where it is the transfer's.
    package var currentRequest: TransferRequest?
    package var response: TransferResponse?
    /// The error of the last attempt. If the transfer is over, nil means success.
    package var error: TransferError?
    /// The metrics of all attempts.
    package var metrics: TransferMetrics?

    // For a transfer that has not ended.

    /// The record of the part file; nil if the transfer cannot continue from it.
    package var part: PartRecord?
    /// The state of an upload's file when the upload began.
    package var uploadFile: UploadFileState?
    /// The URL with which the server identifies an upload that can be resumed; nil where the server has sent none.
    package var uploadResource: URL?
    /// Whether the download was made with resume data, and it is not yet reported to the program where it continues.
    package var resumesForProgram = false

    // For a transfer that has ended. These are kept until the program has taken all parts of the end.

    /// The file of the complete download, or of the body of the response to an upload; nil where there is none.
    package var file: String?
    /// The first part of the end that the program has not taken. The journal stores it in the transfer's row.
    package var next = Part.content

    package init(error: TransferError? = nil, response: TransferResponse? = nil, file: String? = nil) {
        (self.error, self.response, self.file) = (error, response, file)
    }
}

/// The state of a file at a time. The file is another one, or was changed, if any of these values differs.
package struct UploadFileState: Codable, Hashable, Sendable {
    package var device: UInt64
    /// The number of its inode.
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
