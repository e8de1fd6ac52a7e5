import DequeModule
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Passes pieces of a body from the event loop to asynchronous readers, with backpressure.
final class BodyFeed: Sendable {
    /// The number of unread bytes from which the load has to wait.
    static let highWater = 256 * 1024
    /// The largest piece for a slow reader, which takes long to process a piece, and holds it meanwhile.
    static let slowPiece = 64 * 1024

    private struct State {
        var pieces = Deque<Data>()
        var waiting = 0
        var isBlocked = false
        /// Whether the load had to wait since the reader last had to wait.
        var isReaderBehind = false
        /// Usually one. Each of several readers gets different pieces.
        var readers = Deque<UnsafeContinuation<Data?, any Error>>()
        /// Without a piece.
        var end: Result<Data?, any Error>?
        /// How often the body has begun anew, and how often it had when the last piece was taken.
        var restarts = 0
        var restartsOfPiece = 0
    }

    private let state = Guarded(State())
    private let loop: EventLoop

    /// Called on the loop when the reader has caught up after `append` returned `.wait`. Set and read on the loop.
    nonisolated(unsafe) var onDemand: (() -> Void)?
    /// Called on the loop when the reader has stopped reading. Set and read on the loop.
    nonisolated(unsafe) var onCancel: (() -> Void)?

    init(_ loop: EventLoop) { self.loop = loop }

    func append(_ data: Data) -> Flow {
        guard !data.isEmpty else { return .more }
        let (reader, flow) = state.withLock { state -> (UnsafeContinuation<Data?, any Error>?, Flow) in
            if let reader = state.readers.popFirst() {
                state.restartsOfPiece = state.restarts
                return (reader, .more)
            }
            state.pieces.append(data)
            state.waiting += data.count
            // Once blocked, the feed stays blocked until the reader has caught up and `onDemand` is called.
            if state.waiting >= Self.highWater {
                state.isBlocked = true
                state.isReaderBehind = true
            }
            return (nil, state.isBlocked ? .wait : .more)
        }
        reader?.resume(returning: data)
        return flow
    }

    /// Drops the data that was not read: the body begins anew.
    func dropWaiting() {
        state.withLock { state in
            (state.pieces, state.waiting, state.isBlocked) = ([], 0, false)
            state.restarts += 1
        }
    }

    /// How often the body has begun anew.
    fileprivate var restarts: Int { state.withLock { $0.restarts } }

    /// How often the body had begun anew before the piece that was taken last.
    fileprivate var restartsOfPiece: Int { state.withLock { $0.restartsOfPiece } }

    /// Takes the next piece or the end, which is no piece, on the loop; nil where there is neither. The source is not
    /// notified that there is room again.
    func takeWaiting() -> Result<Data?, any Error>? { state.withLock { Self.takePieceOrEnd(&$0).0 } }

    func finish(_ error: (any Error)?) {
        onDemand = nil
        onCancel = nil
        let readers = state.withLock { state -> Deque<UnsafeContinuation<Data?, any Error>> in
            guard state.end == nil else { return [] }
            state.end = if let error { .failure(error) } else { .success(nil) }
            return exchange(&state.readers, for: [])
        }
        for reader in readers {
            if let error { reader.resume(throwing: error) } else { reader.resume(returning: nil) }
        }
    }

    /// The next piece; nil at the end. A reader whose task is cancelled gets no further pieces, and the load ends.
    ///
    /// - Parameter url: the URL of the load, for the error of such a reader.
    fileprivate func next(isolation actor: isolated (any Actor)?, url: @Sendable () -> URL?) async throws -> Data? {
        if Task.isCancelled, !isAtEnd {
            abandon()
            throw URLError(URLError(.cancelled), url: url())
        }
        if let piece = takePiece() { return piece }
        return try await withTaskCancellationHandler(
            operation: { try await withUnsafeThrowingContinuation(isolation: actor) { wait($0) } },
            onCancel: { abandon() }, isolation: actor)
    }

    /// The reader has stopped reading: ends the load. Not on the calling thread, which may be releasing objects.
    fileprivate func abandon() { loop.execute { self.onCancel?() } }

    private var isAtEnd: Bool { state.withLock { $0.pieces.isEmpty && $0.end != nil } }

    private func takePiece() -> Data? {
        let (piece, wakes) = state.withLock { Self.take(&$0) }
        if wakes { loop.perform { self.onDemand?() } }
        return piece
    }

    private static func take(_ state: inout State) -> (Data?, wakes: Bool) {
        guard var piece = state.pieces.popFirst() else { return (nil, false) }
        state.restartsOfPiece = state.restarts
        if state.isReaderBehind, piece.count > slowPiece {
            state.pieces.prepend(piece.dropFirst(slowPiece))
            piece = piece.prefix(slowPiece)
        }
        // A copy, whose indices start at 0, and which does not keep the whole piece alive.
        if piece.startIndex != 0 || piece.count == slowPiece { piece = Data(piece) }
        state.waiting -= piece.count
        let wakes = state.isBlocked && state.waiting < highWater / 2
        if wakes { state.isBlocked = false }
        return (piece, wakes)
    }

    private static func takePieceOrEnd(_ state: inout State) -> (Result<Data?, any Error>?, wakes: Bool) {
        let (piece, wakes) = take(&state)
        if let piece { return (.success(piece), wakes) }
        return (state.end, wakes)
    }

    private func wait(_ continuation: UnsafeContinuation<Data?, any Error>) {
        let (taken, wakes) = state.withLock { state -> (Result<Data?, any Error>?, Bool) in
            let (taken, wakes) = Self.takePieceOrEnd(&state)
            if taken == nil {
                state.readers.append(continuation)
                state.isReaderBehind = false
            }
            return (taken, wakes)
        }
        if wakes { loop.perform { self.onDemand?() } }
        if let taken { continuation.resume(with: taken) }
    }
}

/// The reading end of a feed. When it is released, the load ends.
final class BodyReader: Sendable {
    private let feed: BodyFeed
    private let url: @Sendable () -> URL?

    /// - Parameter url: the URL of the load, where it is known, for the error of a reader that is cancelled.
    init(_ feed: BodyFeed, url: @escaping @Sendable () -> URL? = { nil }) { (self.feed, self.url) = (feed, url) }

    deinit { feed.abandon() }

    /// How often the body has begun anew, because a later response has replaced the one before.
    var restarts: Int { feed.restarts }

    /// How often the body had begun anew before the last piece. For the only reader of the body.
    var restartsOfPiece: Int { feed.restartsOfPiece }

    /// The next piece; nil at the end. Throws the load's error.
    func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
        try await feed.next(isolation: actor, url: url)
    }

    /// The same as an array of bytes, for readers that process single bytes.
    func nextBytes(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
        try await feed.next(isolation: actor, url: url).map { [UInt8]($0) }
    }
}
