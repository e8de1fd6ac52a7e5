import Foundation

/// The reading end of a pair of bound streams.
final class BoundInputStream: InputStream {
    private let end: BoundEnd

    init(_ pipe: BoundPipe) {
        end = BoundEnd(pipe, .reading)
        super.init(data: Data())
    }

    override var delegate: (any StreamDelegate)? {
        get { end.delegate }
        set { end.delegate = newValue }
    }

    override var streamStatus: Stream.Status { end.status }

    override var streamError: (any Error)? { end.status == .error ? end.pipe.failure : nil }

    override var hasBytesAvailable: Bool { end.pipe.hasBytes }

    override func open() { end.open(self) }

    override func close() { end.close() }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard end.isOpen, len > 0 else { return 0 }
        let count = end.pipe.read(UnsafeMutableBufferPointer(start: buffer, count: len))
        end.reportStatus()
        return count
    }

    /// Calls `done` with the next bytes, `limit` at most, when there are some; with nil at the end. Blocks no thread.
    /// There may be one such call at a time.
    func read(atMost limit: Int, _ done: @escaping BoundPipe.Reader) {
        open()
        guard end.isOpen else { return done(.success(nil)) }
        end.pipe.read(atMost: limit, done)
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.schedule(in: aRunLoop, mode) }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.remove(from: aRunLoop, mode) }
}
