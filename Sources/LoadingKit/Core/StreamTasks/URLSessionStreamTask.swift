import Foundation
import LoadingKitPrimitives

/// A connection to a host and port, over which the program sends and receives bytes of its own protocol; or the rest of a
/// response, where a data task has become one (``URLSession/ResponseDisposition/becomeStream``).
///
/// Reads are carried out in the order in which they were asked for, and so are writes; neither waits for the other. What
/// is asked for before the connection is there waits for it. The task ends when both sides are closed, or with the error
/// that broke the connection.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    let host: String
    let port: Int

    init(_ session: URLSession, host: String, port: Int, identifier: Int) {
        self.host = host
        self.port = port
        super.init(session, nil, identifier: identifier, consumer: .delegate)
    }

    /// A data task goes on as a stream task, to the host that its connection, or a tunnel through that, leads to.
    init(_ session: URLSession, continuing task: URLSessionDataTask, through tunnel: TakenConnection.Tunnel?) {
        let url = task.currentRequest?.url
        host = tunnel?.host ?? url?.host ?? ""
        port = tunnel?.port ?? url?.port ?? (url?.hasScheme("https") == true ? 443 : 80)
        super.init(session, continuing: task)
    }

    /// A task that belongs to no session and connects to nothing.
    public override init() {
        host = ""
        port = 0
        super.init()
    }

    /// Reads bytes: as soon as there are `minBytes`, at most `maxBytes`; fewer at the end.
    ///
    /// - Parameters:
    ///   - timeout: seconds after which the read is given up with `URLError.timedOut`; what has come by then is for the next
    ///     read. 0: no limit.
    ///   - completionHandler: called once, on the delegate queue, with the bytes, and whether the peer has sent all; or with
    ///     an error.
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        let minimum = max(1, minBytes)
        submit(
            .read(
                StreamRead(minimum: minimum, maximum: max(minimum, maxBytes), timeout: timeout, done: completionHandler)
            ))
    }

    /// Reads bytes, and whether the peer has sent all; see ``readData(ofMinLength:maxLength:timeout:completionHandler:)``.
    open func readData(ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval) async throws -> (
        Data?, Bool
    ) {
        try await withCheckedThrowingContinuation { continuation in
            readData(ofMinLength: minBytes, maxLength: maxBytes, timeout: timeout) { data, isAtEnd, error in
                if let error {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: (data, isAtEnd))
                }
            }
        }
    }

    /// Writes bytes, all of them.
    ///
    /// - Parameters:
    ///   - timeout: seconds after which the write is given up with `URLError.timedOut`; where some of it was sent, the task
    ///     ends with that error, as the peer could make no sense of what follows. 0: no limit.
    ///   - completionHandler: called once, on the delegate queue, when the system has taken all bytes, or with an error.
    open func write(
        _ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        submit(.write(StreamWrite(data: data, timeout: timeout, done: completionHandler)))
    }

    /// Writes bytes, all of them; see ``write(_:timeout:completionHandler:)``.
    open func write(_ data: Data, timeout: TimeInterval) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            write(data, timeout: timeout) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// When the reads and writes asked for so far are done, gives the delegate an input and an output stream in the task's
    /// stead (`urlSession(_:streamTask:didBecome:outputStream:)`). The task is over then.
    ///
    /// Where the connection breaks, the input stream fails when all that was received is read (`streamError`). Reads have no
    /// time of their own; that of a data task which has become this one goes on (`timeoutIntervalForRequest`).
    open func captureStreams() { submit(.capture) }

    /// When the writes asked for so far are done, signals the peer that there are no more.
    open func closeWrite() { submit(.closeWrite) }

    /// When the reads asked for so far are done, reads no more.
    open func closeRead() { submit(.closeRead) }

    /// When the reads and writes asked for so far are done, puts TLS on the connection; what is asked for later waits until
    /// that is done. The host's certificate is verified, and the delegate asked, as for `https`.
    open func startSecureConnection() { submit(.secure) }

    /// TLS cannot be taken off a connection again: the task ends with `URLError.secureConnectionFailed`, once the reads and
    /// writes asked for so far are done.
    @available(*, deprecated, message: "TLS cannot be taken off a connection.")
    open func stopSecureConnection() { submit(.unsecure) }

    override func makeRunner(
        _ session: URLSession, _ delegates: TaskDelegates?, _ consumer: TaskConsumer
    ) -> any TaskRunner {
        StreamEngine(self, session, delegates)
    }

    /// What a load brings for the task is counted as it is read.
    override func noteReceived(_ count: Int) -> State { updateReceived() }

    private func submit(_ operation: StreamOperation) {
        guard let mailbox else { return operation.fail(LoadFailure(.cancelled, "the task belongs to no session")) }
        mailbox.loop.perform { [self] in
            if let refusal {
                mailbox.postEnd(of: self) { operation.fail(refusal) }
            } else if let stream = streamEngine {
                stream.submit(operation)
            } else {
                waiting.append(operation)
            }
        }
    }

    private var streamEngine: StreamEngine? { engine as? StreamEngine }

    /// Why nothing more is carried out: the task is over, which the program may not have heard of yet. On the session's loop
    /// only.
    nonisolated(unsafe) var refusal: (any Error)?

    /// What was asked for before the task was resumed. On the session's loop only.
    nonisolated(unsafe) var waiting: [StreamOperation] = []
}

extension URLSession {
    // MARK: Stream tasks

    /// A task that connects to a host and port. Resume it to connect.
    ///
    /// - Parameters:
    ///   - hostname: a name, or an address.
    ///   - port: 1 to 65,535; with another the task fails with `URLError.badURL`.
    public func streamTask(withHostName hostname: String, port: Int) -> URLSessionStreamTask {
        requireForeground(BackgroundRules.stream)
        return remember(URLSessionStreamTask(self, host: hostname, port: port, identifier: core.nextIdentifier()))
    }
}
