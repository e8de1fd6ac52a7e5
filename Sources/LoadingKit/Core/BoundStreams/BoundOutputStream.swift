import Foundation

/// The writing end of a pair of bound streams.
final class BoundOutputStream: OutputStream {
    private let end: BoundEnd

    init(_ pipe: BoundPipe) {
        end = BoundEnd(pipe, .writing)
        super.init(toMemory: ())
    }

    /// `OutputStream` requires this initializer. The stream that it makes has no other end.
    required init(toMemory: ()) {
        end = BoundEnd(BoundPipe(capacity: 1), .writing)
        super.init(toMemory: toMemory)
    }

    override var delegate: (any StreamDelegate)? {
        get { end.delegate }
        set { end.delegate = newValue }
    }

    override var streamStatus: Stream.Status { end.status }

    override var streamError: (any Error)? { end.status == .error ? POSIXError(.EPIPE) : nil }

    override var hasSpaceAvailable: Bool { end.pipe.hasRoom }

    override func open() { end.open(self) }

    override func close() { end.close() }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard end.isOpen else { return -1 }
        guard len > 0 else { return 0 }
        let count = end.pipe.write(UnsafeBufferPointer(start: buffer, count: len))
        end.reportStatus()
        return count
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.schedule(in: aRunLoop, mode) }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.remove(from: aRunLoop, mode) }
}
