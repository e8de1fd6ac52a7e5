import Foundation

extension Stream {
    /// Makes two connected streams: one reads the bytes that are written to the other, as with Apple's function of this
    /// name. Use them for an upload whose body is produced while it is sent.
    ///
    ///     var input: InputStream?
    ///     var output: OutputStream?
    ///     Stream.getBoundStreams(withBufferSize: 4096, inputStream: &input, outputStream: &output)
    ///
    /// A read blocks its thread until there are bytes, and a write until there is room. A stream that is scheduled in a
    /// run loop (`schedule(in:forMode:)`) or on a queue (``CFWriteStreamSetDispatchQueue(_:_:)``) calls its delegate when
    /// a read or write would not block. Close the output
    /// stream after the last write: then the input stream ends. Where not all bytes could be written, end the output
    /// stream with ``Foundation/OutputStream/close(throwing:)``, so that the upload fails.
    ///
    /// An upload whose body is the input stream occupies no thread while it waits for bytes. Every other kind of stream
    /// is read on a thread for the program's code.
    ///
    /// - Parameter bufferSize: the number of bytes that may be written before they are read; at least 1.
    public class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: inout InputStream?, outputStream: inout OutputStream?
    ) {
        let pipe = BoundPipe(capacity: bufferSize)
        inputStream = BoundInputStream(pipe)
        outputStream = BoundOutputStream(pipe)
    }
}

extension OutputStream {
    /// Ends the output stream of a bound pair with an error. The input stream fails with the error after the bytes that
    /// were written, and so does an upload whose body is the input stream. ``Foundation/Stream/close()`` instead ends a
    /// complete stream, and has no effect after this method. A writer that always closes its stream (`defer`) calls
    /// this method first where it could not write everything.
    ///
    /// The upload fails with `URLError.requestBodyStreamExhausted`, and the server gets an incomplete body. A stream
    /// that is not of a bound pair is only closed.
    public func close(throwing error: any Error) {
        if let bound = self as? BoundOutputStream { bound.fail(error) } else { close() }
    }
}

final class BoundInputStream: InputStream {
    private let end: BoundEnd
    private var whenOpened: (() -> Void)?

    /// - Parameter whenOpened: called once, when the stream is opened.
    init(_ pipe: BoundPipe, whenOpened: (() -> Void)? = nil) {
        end = BoundEnd(pipe, .reading)
        self.whenOpened = whenOpened
        super.init(data: Data())
    }

    override var delegate: (any StreamDelegate)? {
        get { end.delegate }
        set { end.delegate = newValue }
    }

    override var streamStatus: Stream.Status { end.status }

    override var streamError: (any Error)? { end.status == .error ? end.pipe.failure : nil }

    override var hasBytesAvailable: Bool { end.pipe.hasBytes }

    override func open() {
        end.open(self)
        whenOpened.take()?()
    }

    override func close() {
        end.close()
        whenOpened = nil
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard end.isOpen else { return -1 }
        guard len > 0 else { return 0 }
        let count = end.pipe.read(UnsafeMutableBufferPointer(start: buffer, count: len))
        end.reportStatus()
        return count
    }

    /// Calls `done` with the next bytes, `limit` at most, when there are some; with nil at the end; with an error when
    /// the stream is closed. Blocks no thread. At most one such call may be pending.
    func read(atMost limit: Int, _ done: @escaping BoundPipe.Reader) {
        open()
        guard end.isOpen else { return done(.failure(BoundPipe.ReaderClosed())) }
        end.pipe.read(atMost: limit, done)
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.schedule(in: aRunLoop, mode) }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.remove(from: aRunLoop, mode) }

    func schedule(on queue: DispatchQueue?) { end.schedule(on: queue) }
}

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

    func fail(_ error: any Error) {
        end.pipe.fail(error)
        end.close()
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard end.isOpen else { return -1 }
        guard len > 0 else { return 0 }
        let count = end.pipe.write(UnsafeBufferPointer(start: buffer, count: len))
        end.reportStatus()
        return count
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.schedule(in: aRunLoop, mode) }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.remove(from: aRunLoop, mode) }

    func schedule(on queue: DispatchQueue?) { end.schedule(on: queue) }
}
