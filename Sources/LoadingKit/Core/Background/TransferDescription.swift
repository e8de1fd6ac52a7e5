import Foundation

/// A background session's task as it is kept in the journal and sent to another process: what it was made with. What became
/// of it is a ``TransferSnapshot``.
package struct TransferDescription: Codable, Sendable {
    package enum Kind: String, Codable, Sendable {
        case download
        case upload
    }

    /// Unique in the session, and never used again there.
    package var identifier: Int
    package var kind: Kind
    package var request: TransferRequest
    /// The file that an upload sends.
    package var uploadFile: String?
    /// What the transfer goes on from, where it was made with resume data.
    package var resumeData: Data?
    /// Where a download goes when it is complete, without the program: the tool's. Nil: the program's delegate gets it.
    package var destination: String?
    package var created: Date
    package var taskDescription: String?
    /// From 0 to 1.
    package var priority: Float
    package var earliestBeginDate: Date?
    package var clientExpectsToSend: Int64
    package var clientExpectsToReceive: Int64

    package init(
        identifier: Int, kind: Kind, request: TransferRequest, uploadFile: String? = nil, resumeData: Data? = nil,
        destination: String? = nil, created: Date = Date(), taskDescription: String? = nil, priority: Float = 0.5,
        earliestBeginDate: Date? = nil, clientExpectsToSend: Int64 = -1, clientExpectsToReceive: Int64 = -1
    ) {
        self.identifier = identifier
        self.kind = kind
        self.request = request
        self.uploadFile = uploadFile
        self.resumeData = resumeData
        self.destination = destination
        self.created = created
        self.taskDescription = taskDescription
        self.priority = priority
        self.earliestBeginDate = earliestBeginDate
        self.clientExpectsToSend = clientExpectsToSend
        self.clientExpectsToReceive = clientExpectsToReceive
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

/// A transfer as it stands: what a program gets that takes its session up again.
package struct TransferSnapshot: Codable, Sendable {
    package var transfer: TransferDescription
    package var isSuspended: Bool
    package var progress: TransferProgress
    /// After redirects another than the transfer's.
    package var currentRequest: TransferRequest?
    package var response: TransferResponse?

    package init(
        _ transfer: TransferDescription, isSuspended: Bool = false, progress: TransferProgress = TransferProgress(),
        currentRequest: TransferRequest? = nil, response: TransferResponse? = nil
    ) {
        self.transfer = transfer
        self.isSuspended = isSuspended
        self.progress = progress
        self.currentRequest = currentRequest
        self.response = response
    }
}

/// How a transfer ended. It is kept in the journal until the program has taken all of it.
package struct TransferEnd: Codable, Sendable {
    /// What the program is told of an end, in this order; each is taken by itself.
    package enum Part: Int, Codable, Comparable, Sendable {
        /// The file of a download, or the body of the response to an upload.
        case content = 0
        case metrics = 1
        case completion = 2

        package static func < (one: Part, other: Part) -> Bool { one.rawValue < other.rawValue }
    }

    /// Nil: the transfer has succeeded.
    package var error: TransferError?
    package var response: TransferResponse?
    package var currentRequest: TransferRequest?
    package var progress: TransferProgress
    /// The complete download, or the body of the response to an upload; nil where there is none.
    package var file: String?
    package var metrics: TransferMetrics?
    /// The first part that the program has not yet taken.
    package var next: Part

    package init(
        error: TransferError?, response: TransferResponse?, currentRequest: TransferRequest? = nil,
        progress: TransferProgress, file: String?, metrics: TransferMetrics?, next: Part = .content
    ) {
        self.error = error
        self.response = response
        self.currentRequest = currentRequest
        self.progress = progress
        self.file = file
        self.metrics = metrics
        self.next = next
    }
}
