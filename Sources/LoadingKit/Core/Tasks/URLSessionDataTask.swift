import Foundation

/// A task that gives the response's body to the program as data.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    override func makeSink(_ consumer: TaskConsumer, _ core: SessionCore) -> any TaskSink {
        switch consumer {
        case .delegate: DelegateSink(self, core)
        case .delegateAndFile(let file): DelegateSink(self, core, file)
        default: super.makeSink(consumer, core)
        }
    }
}

/// A task that sends a body of data, of a file or of a stream with its request, and gives the response's body as a data
/// task does.
///
/// A file's length, or data's, is sent as `Content-Length`; a stream of unknown length is sent in chunks over HTTP/1.1.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {  // as its superclass
    private let bodyIsDelegatesStream: Bool

    init(
        _ session: URLSession, _ request: URLRequest, identifier: Int, consumer: TaskConsumer?,
        requestsBodyStream: Bool = false
    ) {
        bodyIsDelegatesStream = requestsBodyStream
        super.init(session, request, identifier: identifier, consumer: consumer)
    }

    override var hasBodyBesideRequest: Bool { true }

    override var transferKind: TransferDescription.Kind? { .upload }

    override var requestsBodyStream: Bool { bodyIsDelegatesStream }

    /// A task that belongs to no session and loads nothing.
    public override init() {
        bodyIsDelegatesStream = false
        super.init()
    }
}
