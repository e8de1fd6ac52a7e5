import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// Reads an `InputStream`. A stream of a bound pair notifies when it has bytes. Any other stream may block, and is read
/// on a thread for the program's code.
package final class BodyStreamReader: BodySource, @unchecked Sendable {  // one read at a time, each on one thread
    /// The number of bytes requested from a stream of a bound pair at a time.
    package static let pieceSize = 64 * 1024

    private let stream: InputStream
    /// The stream of a bound pair whose bytes are the body; `stream` is this one, or passes its bytes on.
    private let bound: BoundInputStream?
    /// The streams that pass on the bytes of `bound`.
    private let forwarding: [any ForwardingBodyStream]
    private let isClaimed = Atomic<Bool>(false)
    private let hasRead = Atomic<Bool>(false)

    private typealias Done = @Sendable (Result<Data?, any Error>) -> Void

    /// While a thread passes a piece to `done`, the next read may be requested. The same thread then performs it, without
    /// a change of threads.
    private struct Delivery {
        var isUnderWay = false
        var next: Done?
    }

    private let delivery = Guarded(Delivery())

    package init(_ stream: InputStream) {
        self.stream = stream
        forwarding = stream.forwardingStreams
        bound = (forwarding.last?.source ?? stream) as? BoundInputStream
    }

    /// Throws when the stream was claimed before: its bytes can be read only once.
    package func claim() throws {
        guard !isClaimed.exchange(true, ordering: .relaxed) else {
            throw LoadFailure(.requestBodyStreamExhausted, "the request's body stream was read before")
        }
    }

    /// Whether no read has begun. The stream can then be read from its beginning.
    package var isUnread: Bool { !hasRead.load(ordering: .relaxed) }

    package func reads(_ other: InputStream?) -> Bool { stream === other }

    /// The rest of the stream is not needed. The writer at the other end of a bound pair is notified. A stream from
    /// which nothing was read is not closed: it may still be sent when there is a network.
    package func abandon() { if !isUnread { Self.close(stream) } }

    /// Closes a bound pair's stream; the program may be writing to the other end.
    static func close(_ stream: InputStream?) { (stream?.streamOfProgram as? BoundInputStream)?.close() }

    /// Passes the next piece to `done`, on any thread; nil at the end.
    package func read(_ done: @escaping @Sendable (Result<Data?, any Error>) -> Void) {
        hasRead.store(true, ordering: .relaxed)
        if let bound {
            return bound.read(atMost: Self.pieceSize) { result in
                if case .success(let piece?) = result { for stream in self.forwarding { stream.didRead(piece) } }
                done(self.closingAtEnd(result))
            }
        }
        let isAwaited = delivery.withLock { delivery in
            if delivery.isUnderWay { delivery.next = done }
            return delivery.isUnderWay
        }
        if isAwaited { return }
        let work = BlockingPool.Work({ self.readPieces(done) }) { refusal in
            done(.failure(LoadFailure(.resourceUnavailable, "the request's body stream cannot be read: \(refusal)")))
        }
        BlockingPool.userCode.run(work)
    }

    private func closingAtEnd(_ result: Result<Data?, any Error>) -> Result<Data?, any Error> {
        switch result {
        case .success(.some): return result
        case .success(nil):
            stream.close()
            return result
        case .failure(let error):
            stream.close()
            return .failure(Self.failure(error))
        }
    }

    private func readPieces(_ first: @escaping Done) {
        var next: Done? = first
        while let done = next {
            let result = Result { try readBlocking() }
            delivery.withLock { $0.isUnderWay = true }
            done(result)
            next = delivery.withLock { exchange(&$0, for: Delivery()).next }
        }
    }

    private func readBlocking() throws -> Data? {
        if stream.streamStatus == .notOpen { stream.open() }
        // A whole chunk at a time, as a piece may take two changes of threads.
        guard let chunk = BodyChunk(.ofProcess), let room = chunk.room.baseAddress else {
            throw LoadFailure.outOfMemory
        }
        let length = chunk.room.count
        // A stream of the program's own may return more than it was asked for.
        let count = min(stream.read(room.bindMemory(to: UInt8.self, capacity: length), maxLength: length), length)
        chunk.filled(count)
        if count > 0 { return chunk.data }
        // Reading `streamError` where there is no error ends the process.
        let error = stream.streamStatus == .error ? stream.streamError : nil
        stream.close()
        if count == 0 && error == nil { return nil }
        throw Self.failure(error)
    }

    private static func failure(_ error: (any Error)?) -> LoadFailure {
        LoadFailure(
            .requestBodyStreamExhausted,
            "the request's body stream failed: \(error.map { String(describing: $0) } ?? "no reason given")")
    }
}

/// Delivers a request's body piece by piece, without blocking the caller.
package protocol BodySource: AnyObject, Sendable {
    /// Passes the next piece to `done`, on any thread, possibly the caller's; nil at the end. One call at a time.
    func read(_ done: @escaping @Sendable (Result<Data?, any Error>) -> Void)
    /// As `read`, but gives bytes of a file that the system can send on this stream by itself. Each piece is sent in
    /// work of its own on the loop, so that other connections have their turns between them.
    func readPiece(
        for stream: ByteStream, _ done: @escaping @Sendable (Result<BodyPiece?, any Error>) -> Void)
}

extension BodySource {
    package func readPiece(
        for stream: ByteStream, _ done: @escaping @Sendable (Result<BodyPiece?, any Error>) -> Void
    ) {
        read { done($0.map { $0.map(BodyPiece.bytes) }) }
    }

    /// The next piece; nil at the end.
    func read() async throws -> Data? {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Data?, any Error>) in
            read { continuation.resume(with: $0) }
        }
    }
}
