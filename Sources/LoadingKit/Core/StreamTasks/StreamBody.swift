import DequeModule
import Foundation
import LoadingKitTransport

/// Holds a response's body until a stream task reads it, and stops the load at a limit. Confined to the load's loop.
final class StreamBody: StreamChannel, PieceSink, @unchecked Sendable {  // confined to the load's loop
    private static let highWater = 256 * 1024

    private let loop: EventLoop
    /// Nil when the load, or the stream task, has ended.
    private var load: (any SinkEngine)?
    @exclusivity(unchecked) var pieces: PieceBuffer
    private var waiting = Deque<Data>()
    private var waitingBytes = 0
    private var holdsBack = false
    private var end: Result<Void, any Error>?
    private var willNotify = false
    private(set) var isClosed = false
    var handler: (any StreamChannelHandler)?

    init(_ load: any SinkEngine, _ pool: ChunkPool) {
        self.load = load
        loop = load.loop
        pieces = PieceBuffer(pool)
    }

    // MARK: TaskSink

    func receive(_ response: URLResponse, isPart: Bool, for engine: any SinkEngine) -> SinkAction { .proceed }

    func deliver(_ piece: Data, for engine: any SinkEngine) -> SinkAction {
        guard !isClosed else { return .proceed }
        waiting.append(piece)
        waitingBytes += piece.count
        if waitingBytes >= Self.highWater { holdsBack = true }
        notifySoon()
        return holdsBack ? .hold(.behind) : .proceed
    }

    /// The stream task ends when the program has read all bytes up to here.
    func reportEnd(_ error: (any Error)?, for engine: any SinkEngine) {
        end = error.map { .failure($0) } ?? .success(())
        load = nil
        notifySoon()
    }

    /// Notifies the handler once for all pieces of a turn. The handler reads everything that is available, and may
    /// close the channel. This ends the load, whose current work is complete by then.
    private func notifySoon() {
        guard !willNotify else { return }
        willNotify = true
        loop.executeLater { [self] in
            willNotify = false
            handler?.channelDidBecomeReady()
        }
    }

    // MARK: From the stream task

    var isBetterRouted: Bool { false }
    var info: ConnectionInfo? { nil }

    var writeRefusal: LoadFailure? {
        LoadFailure(.cancelled, "the stream is the body of a response, which can only be read")
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamReadResult {
        guard let piece = waiting.first else {
            switch end {
            case nil: return .wouldBlock
            case .success?: return .end
            case .failure(let error)?: return .failed(error)
            }
        }
        let count = min(piece.count, buffer.count)
        piece.copyBytes(to: buffer, count: count)
        if count == piece.count { waiting.removeFirst() } else { waiting[0] = piece.dropFirst(count) }
        waitingBytes -= count
        if holdsBack, waitingBytes < Self.highWater / 2 {
            holdsBack = false
            // After the caller's turn: the load reads into the loop's scratch memory, which may be `buffer`.
            loop.executeLater { [self] in load?.release(.behind) }
        }
        return .bytes(count)
    }

    func unread(_ bytes: Data) {
        waiting.prepend(bytes)
        waitingBytes += bytes.count
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> ByteStream.WriteResult { .wouldBlock }

    func finishWriting() {}

    func handOver() throws(LoadFailure) -> ByteStream {
        throw LoadFailure(.secureConnectionFailed, "the stream is the body of a response: it cannot use TLS")
    }

    func followState() { load?.followState() }

    func close() {
        isClosed = true
        handler = nil
        waiting = []
        if let load = load.take() { load.stop() }
    }

    func closeWhenSent() { close() }
}
