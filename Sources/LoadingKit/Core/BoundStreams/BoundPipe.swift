import Foundation

/// The shared part of a pair of bound streams: a bounded buffer between the writing end and the reading end.
///
/// It uses a condition, not an event loop, because `InputStream.read` and `OutputStream.write` block the calling
/// thread, which can be any thread. A session reads with ``read(atMost:_:)``, which blocks no thread.
final class BoundPipe: @unchecked Sendable {  // all state is guarded by `condition`
    enum Side {
        case reading, writing
    }

    /// Receives the next bytes; nil at the end; or the error after which no more bytes arrive.
    typealias Reader = @Sendable (Result<Data?, any Error>) -> Void

    /// The error of a read after the reading end was closed. The bytes are lost, so this must not look like the end.
    struct ReaderClosed: Error, CustomStringConvertible {
        var description: String { "it is closed, as a stream that was read before" }
    }

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
    private var observers: [Side: @Sendable () -> Void] = [:]
    private var reader: WaitingReader?
    /// Whether ``announce()`` has to report bytes to the reading end.
    private var isAnnouncementDue = false

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Sets the function that is called, on any thread, after each change that concerns `side`; nil removes it.
    func observe(_ side: Side, _ body: (@Sendable () -> Void)?) { condition.withLock { observers[side] = body } }

    private var count: Int { bytes.count - start }

    var hasBytes: Bool { condition.withLock { count > 0 } }
    var isAtEnd: Bool { condition.withLock { count == 0 && isWriterClosed } }
    /// The writer's error when it stopped before it had written everything; nil otherwise, and until all bytes were
    /// read.
    var failure: (any Error)? { condition.withLock { count == 0 ? failureOfWriter : nil } }
    var hasRoom: Bool { condition.withLock { count < capacity && !isReaderClosed } }
    var isBroken: Bool { condition.withLock { isReaderClosed } }

    var room: Int { condition.withLock { isReaderClosed ? 0 : max(0, capacity - count) } }

    /// The number of bytes in memory, including those that were taken and not dropped yet. For tests.
    var storedCount: Int { condition.withLock { bytes.count } }

    /// Adds bytes to the buffer, even beyond its capacity.
    func put(_ bytes: UnsafeRawBufferPointer) {
        change(.reading) { if !isReaderClosed { self.bytes.append(contentsOf: bytes) } }
    }

    /// Adds a byte, even beyond the capacity, without telling the reading end, which ``announce()`` does for this byte
    /// and those that are added meanwhile. Returns whether the caller has to call it, and whether there is more room.
    func collect(_ byte: UInt8) -> (isFirst: Bool, hasRoom: Bool) {
        condition.withLock {
            guard !isReaderClosed else { return (false, false) }
            bytes.append(byte)
            defer { isAnnouncementDue = true }
            return (!isAnnouncementDue, count < capacity)
        }
    }

    func announce() { change(.reading) { isAnnouncementDue = false } }

    func take(atMost limit: Int) -> [UInt8] {
        guard hasBytes else { return [] }
        return change(.writing) { take(min(count, limit)) }
    }

    private func take(_ taken: Int) -> [UInt8] {
        let result = Array(bytes[start..<start + taken])
        start += taken
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity / 4 <= max(capacity, BodyStreamReader.pieceSize))
            start = 0
        } else if start >= max(capacity, bytes.count / 2) {
            // The buffer may never be empty. About as many bytes are moved as were taken, at most.
            bytes.removeFirst(start)
            start = 0
        }
        return result
    }

    /// Waits for bytes, and copies them into `buffer`. Returns their number; 0 at the end, and -1 after a failure, or
    /// when this end is closed.
    func read(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        change(.writing) {
            while count == 0, !isWriterClosed, !isReaderClosed { condition.wait() }
            if isReaderClosed || (count == 0 && failureOfWriter != nil) { return -1 }
            let taken = take(min(count, buffer.count))
            _ = buffer.update(fromContentsOf: taken)
            return taken.count
        }
    }

    /// Calls `done` with the next bytes, without blocking: at once, or later on the thread that writes them. At most
    /// one such call may be pending.
    func read(atMost limit: Int, _ done: @escaping Reader) {
        change(nil) { reader = WaitingReader(limit: max(1, limit), done: done) }
    }

    /// The reader that waits for bytes, with its result; nil when none waits, or when there is no result yet.
    private func takeForReader() -> (Reader, Result<Data?, any Error>)? {
        guard let waiting = reader, count > 0 || isWriterClosed || isReaderClosed else { return nil }
        reader = nil
        guard !isReaderClosed else { return (waiting.done, .failure(ReaderClosed())) }
        if count > 0 { return (waiting.done, .success(Data(take(min(count, waiting.limit))))) }
        if let failureOfWriter { return (waiting.done, .failure(failureOfWriter)) }
        return (waiting.done, .success(nil))
    }

    /// Waits for room, and adds bytes. Returns the number of bytes added; -1 when the other end is closed.
    func write(_ buffer: UnsafeBufferPointer<UInt8>) -> Int {
        change(.reading) {
            while count >= capacity, !isReaderClosed, !isWriterClosed { condition.wait() }
            guard !isReaderClosed, !isWriterClosed else { return -1 }
            let taken = min(capacity - count, buffer.count)
            bytes.append(contentsOf: buffer.prefix(taken))
            return taken
        }
    }

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

    /// Makes a change under the lock. Afterwards it calls the waiting reader, and the observers that the change
    /// concerns.
    ///
    /// - Parameter other: the side whose observer the change concerns; nil: no side, unless bytes were taken.
    private func change<Value>(_ other: Side?, _ body: () -> Value) -> Value {
        let (value, read, observeReading, observeWriting) = condition.withLock {
            let value = body()
            let before = count
            let read = takeForReader()
            condition.broadcast()
            return (
                value, read, other == .reading ? observers[.reading] : nil,
                other == .writing || count < before ? observers[.writing] : nil
            )
        }
        observeReading?()
        observeWriting?()
        if let (reader, result) = read { reader(result) }
        return value
    }
}
