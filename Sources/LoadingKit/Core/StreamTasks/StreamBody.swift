import DequeModule
import Foundation
import LoadingKitTransport

/// A response's body as a stream task reads it: what its load has received waits here, and holds the load back when it is
/// much. Confined to the load's loop.
final class StreamBody: StreamChannel, @unchecked Sendable {  // confined to the load's loop
    /// Bytes that may wait unread before the load is told to wait.
    static let highWater = 256 * 1024

    private let loop: EventLoop
    /// Until the load, or the stream task, is over.
    private var load: TaskEngine?
    private var pieces = Deque<Data>()
    private var waiting = 0
    private var holdsBack = false
    private var end: Result<Void, any Error>?
    private var willTell = false
    private(set) var isClosed = false
    var handler: (any StreamChannelHandler)?

    init(_ load: TaskEngine) {
        self.load = load
        loop = load.loop
    }

    // MARK: From the load

    func append(_ piece: Data) -> Flow {
        guard !isClosed, !piece.isEmpty else { return .more }
        pieces.append(piece)
        waiting += piece.count
        if waiting >= Self.highWater { holdsBack = true }
        tellLater()
        return holdsBack ? .wait : .more
    }

    func finish(_ error: (any Error)?) {
        end = error.map { .failure($0) } ?? .success(())
        load = nil
        tellLater()
    }

    /// Not from inside the load's own call.
    private func tellLater() {
        guard !willTell else { return }
        willTell = true
        loop.executeLater { [self] in
            willTell = false
            handler?.channelIsReady()
        }
    }

    // MARK: From the stream task

    var isBetterRouted: Bool { false }

    var writeRefusal: LoadFailure? {
        LoadFailure(.cancelled, "the stream is the body of a response, which can only be read")
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamReadResult {
        guard let piece = pieces.first else {
            switch end {
            case nil: return .wouldBlock
            case .success?: return .end
            case .failure(let error)?: return .failed(error)
            }
        }
        let count = min(piece.count, buffer.count)
        piece.copyBytes(to: buffer, count: count)
        if count == piece.count { pieces.removeFirst() } else { pieces[0] = piece.dropFirst(count) }
        waiting -= count
        if holdsBack, waiting < Self.highWater / 2 {
            holdsBack = false
            loop.executeLater { [self] in load?.release(.behind) }
        }
        return .bytes(count)
    }

    func unread(_ bytes: Data) {
        pieces.prepend(bytes)
        waiting += bytes.count
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamWriteResult { .wouldBlock }

    func finishWriting() {}

    func handOver() throws(LoadFailure) -> ByteStream {
        throw LoadFailure(.secureConnectionFailed, "the stream is the body of a response: TLS cannot be put on it")
    }

    /// The task was suspended or resumed.
    func followState() { load?.followState() }

    func close() {
        isClosed = true
        handler = nil
        pieces = []
        if let load = load.take() { load.stop() }
    }
}
