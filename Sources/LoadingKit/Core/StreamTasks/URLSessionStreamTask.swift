import Foundation

/// A connection to a host and port, over which the program sends and receives bytes of its own protocol; or the rest of
/// a response, where a data task has become a stream task (``URLSession/ResponseDisposition/becomeStream``).
///
/// Reads are carried out in the order of the calls, and so are writes; neither waits for the other. Calls before the
/// connection is established wait for it. The task ends when both sides are closed, or with the error that broke the
/// connection.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    /// A name or an address, without brackets.
    let host: String
    let port: Int

    init(_ session: URLSession, host: String, port: Int, identifier: Int) {
        let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]")
        self.host = hasBrackets ? String(host.dropFirst().dropLast()) : host
        self.port = port
        super.init(session, nil, identifier: identifier, consumer: .delegate)
    }

    /// Continues a data task as a stream task.
    ///
    /// - Parameter connection: the task's connection; nil for a stream that is the body of a response.
    init(_ session: URLSession, continuing task: URLSessionDataTask, on connection: TakenConnection?) {
        host = connection?.host ?? ""
        port = connection?.port ?? 0
        super.init(session, continuing: task)
    }

    /// A task that belongs to no session and connects to nothing.
    public override init() {
        host = ""
        port = 0
        super.init()
    }

    /// Reads bytes: as soon as there are `minBytes`, and at most `maxBytes`; fewer at the end.
    ///
    /// - Parameters:
    ///   - timeout: seconds after which the read fails with `URLError.timedOut`. The next read gets the bytes received
    ///     by then. 0: no limit.
    ///   - completionHandler: called once, on the delegate queue, with the bytes, and whether the peer has sent
    ///     everything; or with an error.
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

    /// Reads bytes, and whether the peer has sent everything; see
    /// ``readData(ofMinLength:maxLength:timeout:completionHandler:)``.
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
    ///   - timeout: seconds after which the write fails with `URLError.timedOut`. Where a part of it was sent, the task
    ///     ends with this error, because the peer could not interpret later bytes. 0: no limit.
    ///   - completionHandler: called once, on the delegate queue, when the system has taken all bytes, or with an
    ///     error.
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

    /// When all earlier reads and writes are done, passes an input and an output stream to the delegate, which replace
    /// the task (`urlSession(_:streamTask:didBecome:outputStream:)`). The task then ends. A side that is closed before
    /// stays closed: the input stream is at its end then, and the output stream takes no bytes.
    ///
    /// Where the connection breaks, the input stream fails after all received bytes were read (`streamError`). Reads of
    /// the stream have no timeout; the timeout of a data task that has become this task continues
    /// (`timeoutIntervalForRequest`).
    open func captureStreams() { submit(.capture) }

    /// When all earlier writes are done, signals the peer that there are no more.
    open func closeWrite() { submit(.closeWrite) }

    /// When all earlier reads are done, closes the read side.
    open func closeRead() { submit(.closeRead) }

    /// When all earlier reads and writes are done, starts TLS on the connection; later operations wait for its
    /// completion. The host's certificate is verified, and the delegate gets challenges, as for `https`.
    open func startSecureConnection() { submit(.secure) }

    /// TLS cannot be removed from a connection: the task ends with `URLError.secureConnectionFailed`, when all earlier
    /// reads and writes are done.
    @available(*, deprecated, message: "TLS cannot be removed from a connection.")
    open func stopSecureConnection() { submit(.unsecure) }

    override func makeRunner(
        _ session: URLSession, _ delegates: TaskDelegates?, _ consumer: TaskConsumer
    ) -> any TaskRunner {
        StreamEngine(self, session, delegates)
    }

    /// Bytes that a load delivers for the task are counted when they are read.
    override func noteReceived(_ count: Int) -> State { updateReceived() }

    private func submit(_ operation: StreamOperation) {
        guard let mailbox else { return operation.fail(LoadFailure(.cancelled, "the task belongs to no session")) }
        mailbox.loop.perform { [self] in
            if let refusal {
                mailbox.postEnd(of: self) { operation.fail(refusal) }
            } else if let stream = engine as? StreamEngine {
                stream.submit(operation)
            } else {
                waiting.append(operation)
            }
        }
    }

    /// The reason why operations are no longer carried out: the task has ended, which the program may not know yet.
    /// Used only on the session's loop.
    nonisolated(unsafe) var refusal: (any Error)?

    /// The operations requested before the task was resumed. Used only on the session's loop.
    nonisolated(unsafe) var waiting: [StreamOperation] = []
}
