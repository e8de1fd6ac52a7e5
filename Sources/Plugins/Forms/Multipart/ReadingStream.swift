import Foundation

/// A body that is read while it is sent. Reading blocks.
@_spi(LoadingKitPlugins)
public final class ReadingStream: InputStream {
    /// Reads bytes into the buffer, which is not empty, and returns their number; 0 at the end.
    public typealias Reader = (UnsafeMutableRawBufferPointer) throws -> Int

    private let makeReader: () throws -> Reader
    private var reader: Reader?
    private var status = Stream.Status.notOpen
    private var failure: (any Error)?

    /// - Parameter makeReader: called when the stream is opened.
    public init(_ makeReader: @escaping () throws -> Reader) {
        self.makeReader = makeReader
        super.init(data: Data())
    }

    public override var streamStatus: Stream.Status { status }

    public override var streamError: (any Error)? { failure }

    public override var hasBytesAvailable: Bool { status == .open }

    public override func open() {
        guard status == .notOpen else { return }
        do {
            reader = try makeReader()
            status = .open
        } catch {
            fail(error)
        }
    }

    public override func close() {
        reader = nil
        status = .closed
    }

    public override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard status == .open, len > 0, let reader else { return status == .error ? -1 : 0 }
        do {
            let count = try reader(UnsafeMutableRawBufferPointer(start: buffer, count: len))
            if count == 0 { status = .atEnd }
            return count
        } catch {
            fail(error)
            return -1
        }
    }

    private func fail(_ error: any Error) { (failure, status) = (error, .error) }

    public override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    /// The stream has no events: its reader waits.
    public override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    public override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
