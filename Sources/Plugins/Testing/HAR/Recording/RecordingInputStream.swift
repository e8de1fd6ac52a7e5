import Foundation
import Synchronization

/// The body of a request as a stream, which is copied while it is read. Read by one thread at a time.
final class RecordingInputStream: InputStream {
    private let source: InputStream
    private let copy: RecordedBody

    init(_ source: InputStream, _ copy: RecordedBody) {
        self.source = source
        self.copy = copy
        super.init(data: Data())
    }

    /// The part that was read up to now.
    var recorded: RecordedBody { copy }

    override var delegate: (any StreamDelegate)? {
        get { source.delegate }
        set { source.delegate = newValue }
    }

    override var streamStatus: Stream.Status { source.streamStatus }
    override var streamError: (any Error)? { source.streamStatus == .error ? source.streamError : nil }
    override var hasBytesAvailable: Bool { source.hasBytesAvailable }

    override func open() { source.open() }
    override func close() { source.close() }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        let count = source.read(buffer, maxLength: length)
        if count > 0 {
            copy.append(UnsafeRawBufferPointer(start: buffer, count: min(count, length)))
        } else if count == 0 {
            copy.finish()
        }
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }
}

/// A body that is being recorded, up to a number of bytes.
final class RecordedBody: Sendable {
    private struct State {
        var data = Data()
        var size = 0
        var isWhole = false
        var isOmitted = false

        func hasAll(_ limit: Int) -> Bool { size <= limit && !isOmitted }
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = max(limit, 0) }

    func append(_ bytes: some Collection<UInt8>) {
        state.withLock { state in
            state.size += bytes.count
            // An incomplete body is of no use.
            if state.size > limit { state.data = Data() } else { state.data.append(contentsOf: bytes) }
        }
    }

    /// Counts `count` bytes that are not read.
    func skip(_ count: Int) {
        state.withLock { state in
            state.size += count
            state.isOmitted = true
        }
    }

    func finish() { state.withLock { $0.isWhole = true } }

    /// The number of bytes of the body.
    var size: Int { state.withLock { $0.size } }

    /// Nil where the body exceeds the limit.
    var data: Data? { state.withLock { $0.hasAll(limit) ? $0.data : nil } }

    /// Nil where the body exceeds the limit, or its end was not reached.
    var wholeData: Data? { state.withLock { $0.isWhole && $0.hasAll(limit) ? $0.data : nil } }
}
