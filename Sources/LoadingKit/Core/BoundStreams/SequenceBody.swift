import Foundation
import LoadingKitPrimitives

/// Writes a body into a bound pair, in a task of its own, as it is read from the pair's input stream.
final class SequenceBody: Sendable {
    private struct State {
        var writer: UnsafeContinuation<Void, any Error>?
        var task: Task<Void, Never>?
        var failure: (any Error)?
    }

    private let pipe: BoundPipe
    private let state = Guarded(State())

    /// - Parameter capacity: the number of bytes by which the writer may be ahead of the reader, beyond one piece.
    init(capacity: Int = BodyStreamReader.pieceSize) { pipe = BoundPipe(capacity: capacity) }

    /// The error that the writing function has thrown.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// The stream of the sequence's bytes. When it is closed or released, the iteration is cancelled.
    func stream<Body: AsyncSequence & Sendable>(of body: Body) -> InputStream where Body.Element: DataProtocol {
        start { for try await piece in body { try await self.write(piece) } }
        return BoundInputStream(pipe)
    }

    /// The stream of a sequence's single bytes; as with pieces.
    func stream<Body: AsyncSequence & Sendable>(ofBytes body: Body) -> InputStream where Body.Element == UInt8 {
        start { for try await byte in body { try await self.write(byte: byte) } }
        return BoundInputStream(pipe)
    }

    /// The stream of the bytes that a function writes, which is called when the stream is opened.
    func stream(writing body: @escaping @Sendable (BodyWriter) async throws -> Void) -> InputStream {
        BoundInputStream(pipe) { self.start { try await body(BodyWriter(body: self)) } }
    }

    private func start(_ body: @escaping @Sendable () async throws -> Void) {
        pipe.observe(.writing) { [weak self] in self?.pipeDidChange() }
        let task = Task { await run(body) }
        state.withLock { $0.task = task }
        // The reader may have closed the pipe before there was a task to cancel.
        pipeDidChange()
    }

    private func run(_ body: @Sendable () async throws -> Void) async {
        do {
            try await body()
            pipe.close(.writing)
        } catch {
            // A function that was cancelled after the load's end has not failed by itself.
            if !pipe.isBroken { state.withLock { $0.failure = error } }
            pipe.fail(error)
        }
        pipe.observe(.writing, nil)
    }

    /// Adds bytes, and returns when there is room for more.
    fileprivate func write(_ piece: some DataProtocol) async throws {
        for region in piece.regions { region.withUnsafeBytes { pipe.put($0) } }
        try await waitForRoom()
    }

    /// As with pieces. The reader is told by another task, which runs at once beside this one or when this one waits.
    /// The bytes that have come by then are sent together: each would otherwise be sent by itself.
    private func write(byte: UInt8) async throws {
        let (isFirst, hasRoom) = pipe.collect(byte)
        if isFirst { Task { [pipe] in pipe.announce() } }
        if !hasRoom { try await waitForRoom() }
    }

    private func waitForRoom() async throws {
        if !pipe.hasRoom {
            try await withUnsafeThrowingContinuation { (writer: UnsafeContinuation<Void, any Error>) in
                let isFree = state.withLock { state in
                    guard state.writer == nil else { return false }
                    state.writer = writer
                    return true
                }
                // Another task writes at the same time.
                guard isFree else { return writer.resume(throwing: CancellationError()) }
                pipeDidChange()
            }
        }
        if pipe.isBroken { throw CancellationError() }
    }

    private func pipeDidChange() {
        let isBroken = pipe.isBroken
        guard isBroken || pipe.hasRoom else { return }
        let (writer, task) = state.withLock { ($0.writer.take(), $0.task) }
        writer?.resume()
        if isBroken { task?.cancel() }
    }
}

/// Writes a request's body while it is sent.
@_spi(LoadingKitPlugins)
public struct BodyWriter: Sendable {
    fileprivate let body: SequenceBody

    /// Writes bytes, and returns when they were read.
    ///
    /// - Throws: `CancellationError` where nothing more is read, or another task writes at the same time.
    public func write(_ bytes: Data) async throws { try await body.write(bytes) }

    /// Writes the bytes of a stream. A thread is occupied only while it reads.
    public func write(contentsOf stream: InputStream) async throws {
        let reader = BodyStreamReader(stream)
        while let piece = try await reader.read() { try await body.write(piece) }
    }
}

extension URLRequest {
    /// A stream of the bytes of an asynchronous sequence, for ``httpBodyStream``: for example the body of a
    /// response that is forwarded. `URLSession.upload(for:from:length:delegate:)` sends one by itself.
    ///
    /// The iteration begins at once, in a task of its own, and is at most 64 KiB and one piece ahead of the reader:
    /// while the server is slower than the sequence, the sequence waits. It is cancelled when the stream is closed or
    /// released, as when the load ends. An error that the sequence throws fails the load with
    /// `URLError.requestBodyStreamExhausted`.
    ///
    /// - Parameter body: a sequence of `Data`, or of other pieces of bytes. It is iterated once.
    public static func bodyStream<Body: AsyncSequence & Sendable>(
        of body: Body
    ) -> InputStream where Body.Element: DataProtocol {
        SequenceBody().stream(of: body)
    }

    /// A stream of the bytes that a function writes, in a task of its own, which begins when the stream is opened. It
    /// is cancelled when the stream is closed or released.
    @_spi(LoadingKitPlugins)
    public static func bodyStream(writing body: @escaping @Sendable (BodyWriter) async throws -> Void) -> InputStream {
        SequenceBody(capacity: 1).stream(writing: body)
    }
}

extension URLSession {
    /// Sends the pieces of an asynchronous sequence as the request's body, as they are produced, and returns the
    /// complete response.
    ///
    ///     let (data, response) = try await session.upload(for: request, from: answer.chunks)
    ///
    /// While the server is slower than the sequence, the sequence waits; see ``URLRequest/bodyStream(of:)``. The
    /// sequence is iterated once: where a body of which something was read has to be sent again, after a redirect, a
    /// challenge or the loss of a connection, the delegate's `needNewBodyStream` supplies it. Otherwise the upload
    /// fails: with `URLError.requestBodyStreamExhausted`, or with the connection's error.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
    /// - Parameters:
    ///   - length: the number of bytes in all pieces, which is sent as `Content-Length`. Nil, the default: it is not
    ///     known, and the body is sent in chunks (HTTP/1.1).
    ///   - delegate: a delegate for this load only. Methods that it lacks are called on the session's delegate.
    /// - Throws: the sequence's own error where it has failed.
    public func upload<Body: AsyncSequence & Sendable>(
        for request: URLRequest, from body: Body, length: Int64? = nil, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) where Body.Element: DataProtocol {
        let source = SequenceBody()
        return try await upload(request, source.stream(of: body), of: source, length, delegate)
    }

    /// Sends the bytes of an asynchronous sequence as the request's body; as with pieces. A byte does not wait for
    /// others: those that are produced while earlier ones are being sent are sent together.
    public func upload<Body: AsyncSequence & Sendable>(
        for request: URLRequest, from body: Body, length: Int64? = nil, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) where Body.Element == UInt8 {
        if let bytes = body as? URLSession.AsyncBytes {
            return try await upload(for: request, from: bytes.chunks, length: length, delegate: delegate)
        }
        let source = SequenceBody()
        return try await upload(request, source.stream(ofBytes: body), of: source, length, delegate)
    }

    private func upload(
        _ request: URLRequest, _ stream: InputStream, of source: SequenceBody, _ length: Int64?,
        _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        var request = request
        request.httpBodyStream = stream
        if let length { request.setValue(String(length), forHTTPHeaderField: "Content-Length") }
        do {
            return try await whole(
                URLSessionUploadTask(self, request, identifier: newIdentifier(for: nil), consumer: nil), delegate)
        } catch {
            throw source.failure ?? error
        }
    }
}
