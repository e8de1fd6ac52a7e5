import Foundation
import LoadingKitPrimitives

/// What a pair of bound streams shares: a bounded buffer between the one who writes and the one who reads.
///
/// A condition rather than an event loop, as `InputStream.read` and `OutputStream.write` block the threads they are called
/// on, whichever those are. A session reads with ``read(atMost:_:)``, which blocks none.
final class BoundPipe: @unchecked Sendable {  // all state is guarded by `condition`
    enum Side {
        case reading, writing
    }

    /// Is told of the next bytes, of none at the end, or of why there will be no more.
    typealias Reader = @Sendable (Result<Data?, any Error>) -> Void

    private struct WaitingReader {
        let limit: Int
        let done: Reader
    }

    private let condition = NSCondition()
    private let capacity: Int
    private var bytes: [UInt8] = []
    private var start = 0
    private var isReaderClosed = false
    private var isWriterClosed = false
    private var failureOfWriter: (any Error)?
    private var onChange: [Side: @Sendable () -> Void] = [:]
    private var reader: WaitingReader?

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Called after each change that concerns a side, on any thread.
    func observe(_ side: Side, _ body: (@Sendable () -> Void)?) { condition.withLock { onChange[side] = body } }

    private var count: Int { bytes.count - start }

    var hasBytes: Bool { condition.withLock { count > 0 } }
    var isAtEnd: Bool { condition.withLock { count == 0 && isWriterClosed } }
    /// Why the end is not that of what was to be written; nil where it is, and before all bytes were read.
    var failure: (any Error)? { condition.withLock { count == 0 ? failureOfWriter : nil } }
    var hasRoom: Bool { condition.withLock { count < capacity && !isReaderClosed } }
    var isBroken: Bool { condition.withLock { isReaderClosed } }

    /// How many bytes may be put in without waiting.
    var room: Int { condition.withLock { isReaderClosed ? 0 : max(0, capacity - count) } }

    /// Puts bytes in, whether or not there is room.
    func put(_ bytes: UnsafeRawBufferPointer) {
        change(.reading) { if !isReaderClosed { self.bytes.append(contentsOf: bytes) } }
    }

    /// Takes the bytes that there are.
    func take(atMost limit: Int) -> [UInt8] {
        guard hasBytes else { return [] }
        return change(.writing) { take(min(count, limit)) }
    }

    private func take(_ taken: Int) -> [UInt8] {
        let result = Array(bytes[start..<start + taken])
        start += taken
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            start = 0
        }
        return result
    }

    /// Waits for bytes, and gives how many were put into the buffer; 0 at the end, -1 where that is a failure.
    func read(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        change(.writing) {
            while count == 0, !isWriterClosed, !isReaderClosed { condition.wait() }
            if count == 0, failureOfWriter != nil { return -1 }
            let taken = take(min(count, buffer.count))
            _ = buffer.update(fromContentsOf: taken)
            return taken.count
        }
    }

    /// Gives the next bytes when there are some, without waiting: at once, or in the thread that writes them. One at a time.
    func read(atMost limit: Int, _ done: @escaping Reader) {
        change(nil) { reader = WaitingReader(limit: max(1, limit), done: done) }
    }

    /// What the reader that waits for bytes is to be told, if anything.
    private func takeForReader() -> (Reader, Result<Data?, any Error>)? {
        guard let waiting = reader, count > 0 || isWriterClosed || isReaderClosed else { return nil }
        reader = nil
        if count > 0, !isReaderClosed { return (waiting.done, .success(Data(take(min(count, waiting.limit))))) }
        if let failureOfWriter, !isReaderClosed { return (waiting.done, .failure(failureOfWriter)) }
        return (waiting.done, .success(nil))
    }

    /// Waits for room, and gives how many bytes were taken; -1 when nobody will read them.
    func write(_ buffer: UnsafeBufferPointer<UInt8>) -> Int {
        change(.reading) {
            while count >= capacity, !isReaderClosed, !isWriterClosed { condition.wait() }
            guard !isReaderClosed, !isWriterClosed else { return -1 }
            let taken = min(capacity - count, buffer.count)
            bytes.append(contentsOf: buffer.prefix(taken))
            return taken
        }
    }

    /// The writer's end comes before it has written all.
    func fail(_ error: any Error) {
        change(.reading) {
            guard !isWriterClosed else { return }
            failureOfWriter = error
            isWriterClosed = true
        }
    }

    func close(_ side: Side) {
        change(side == .reading ? .writing : .reading) {
            if side == .reading { isReaderClosed = true } else { isWriterClosed = true }
        }
    }

    /// Tells the other side, and the reader that waits, when the lock is let go of.
    private func change<Value>(_ other: Side?, _ body: () -> Value) -> Value {
        let (value, read, tellReading, tellWriting) = condition.withLock {
            let value = body()
            let before = count
            let read = takeForReader()
            condition.broadcast()
            return (
                value, read, other == .reading ? onChange[.reading] : nil,
                other == .writing || count < before ? onChange[.writing] : nil
            )
        }
        tellReading?()
        tellWriting?()
        if let (reader, result) = read { reader(result) }
        return value
    }
}
