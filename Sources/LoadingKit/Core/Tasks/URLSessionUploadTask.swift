import Foundation

/// A task that sends a body of data, of a file or of a stream with its request, and gives the response's body as a data
/// task does.
///
/// A file's length, or data's, is sent as `Content-Length`; a stream of unknown length is sent in chunks over HTTP/1.1.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {  // as its superclass
    /// Whether the delegate gives the body, as a stream, when the task begins.
    let asksForStream: Bool

    init(
        _ session: URLSession, _ request: URLRequest, identifier: Int, consumer: TaskConsumer?,
        asksForStream: Bool = false
    ) {
        self.asksForStream = asksForStream
        super.init(session, request, identifier: identifier, consumer: consumer)
    }

    override var hasBodyBesideRequest: Bool { true }

    /// A task that belongs to no session and loads nothing.
    public override init() {
        asksForStream = false
        super.init()
    }
}
