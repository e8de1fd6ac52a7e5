import Foundation
import LoadingKitPrimitives

/// A sink that delivers a body piece by piece. Bytes that arrive together are one piece, up to a chunk: the consumer
/// gets fewer calls.
protocol PieceSink: TaskSink {
    var pieces: PieceBuffer { get set }
    /// Receives a piece, which is not empty.
    func deliver(_ piece: Data, for engine: any SinkEngine) -> SinkAction
}

extension PieceSink {
    func receive(_ bytes: UnsafeRawBufferPointer, for engine: any SinkEngine) -> SinkAction {
        var action = SinkAction.proceed
        var rest = bytes[...]
        while !rest.isEmpty {
            engine.perform(action)
            guard let taken = pieces.append(UnsafeRawBufferPointer(rebasing: rest)) else {
                return .fail(LoadFailure.outOfMemory)
            }
            rest = rest.dropFirst(taken)
            action = flushSoon(for: engine)
        }
        return action
    }

    func receive(_ data: Data, for engine: any SinkEngine) -> SinkAction {
        engine.perform(flush(for: engine))
        return data.isEmpty ? .proceed : deliver(data, for: engine)
    }

    func buffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { pieces.room() }

    func bufferWasFilled(_ count: Int, for engine: any SinkEngine) -> SinkAction {
        pieces.filled(count)
        return flushSoon(for: engine)
    }

    /// A chunk that is nearly full is flushed at once; any other chunk at the end of the turn.
    private func flushSoon(for engine: any SinkEngine) -> SinkAction {
        if pieces.isNearlyFull { return flush(for: engine) }
        return pieces.requestTurnEnd() ? .flushLater : .proceed
    }

    func flush(for engine: any SinkEngine) -> SinkAction {
        guard let piece = pieces.take() else { return .proceed }
        return deliver(piece, for: engine)
    }

    func turnDidEnd(for engine: any SinkEngine) -> SinkAction {
        let waits = pieces.turnDidEnd(now: engine.loop.now)
        // Bytes that arrived just after the task was suspended wait until it is resumed.
        if engine.hold.contains(.suspended) { return .proceed }
        guard waits, pieces.requestTurnEnd() else { return flush(for: engine) }
        return .flushAfterPause
    }
}

/// Collects bytes of a body until they form a piece.
struct PieceBuffer {
    /// The smallest room, in bytes, that is worth a separate read.
    private static let smallestRead = 16 * 1024

    private let pool: ChunkPool
    private var chunk: BodyChunk?
    private var awaitsTurnEnd = false
    private var pacing = PiecePacing()

    init(_ pool: ChunkPool) { self.pool = pool }

    var isNearlyFull: Bool { chunk.map { $0.room.count < Self.smallestRead } ?? false }

    /// Memory for the next bytes; nil when the system has none.
    mutating func room() -> UnsafeMutableRawBufferPointer? { takeChunk()?.room }

    /// Counts bytes that were written to `room`.
    mutating func filled(_ count: Int) {
        chunk?.filled(count)
        pacing.received += count
    }

    /// Copies as many bytes as there is room for, and returns their number; nil when the system has no memory.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let taken = takeChunk()?.append(bytes)
        pacing.received += taken ?? 0
        return taken
    }

    /// The bytes as a piece; nil where there are none.
    mutating func take() -> Data? {
        guard let data = chunk.take()?.data, !data.isEmpty else { return nil }
        return data
    }

    /// Requests a call at the end of the loop's turn. False where one was requested before, or there are no bytes.
    mutating func requestTurnEnd() -> Bool {
        guard chunk != nil, !awaitsTurnEnd else { return false }
        awaitsTurnEnd = true
        return true
    }

    /// Returns whether the bytes had better wait for more.
    mutating func turnDidEnd(now: MonotonicTime) -> Bool {
        awaitsTurnEnd = false
        return pacing.waits(now: now)
    }

    private mutating func takeChunk() -> BodyChunk? {
        if chunk == nil { chunk = BodyChunk(pool) }
        return chunk
    }
}

/// Decides whether an incomplete chunk is delivered at the end of a turn, or waits for more bytes.
///
/// Each piece wakes the delegate's thread, and on a fast network each turn of the loop finds a part of a chunk only. A
/// turn that brings few bytes ends the waiting, so the last ones are late by one short pause.
struct PiecePacing {
    /// The time between two turns from which the bytes are delivered at once, in nanoseconds.
    private static let quick: UInt64 = 100_000
    /// The number of bytes below which they are delivered at once: with `quick`, a rate of 1.3 Gbit/s.
    private static let many = 16 * 1024

    /// The bytes of this turn.
    var received = 0
    private var last = MonotonicTime(nanoseconds: 0)

    /// The turn ends.
    mutating func waits(now: MonotonicTime) -> Bool {
        defer {
            received = 0
            last = now
        }
        return received >= Self.many && now.nanoseconds(since: last) < Self.quick
    }
}
