import Foundation

/// A form's body as a stream. Reading blocks.
final class FormBodyStream: InputStream {
    private let reader: FormReader
    private var status = Stream.Status.notOpen
    private var failure: (any Error)?

    init(_ reader: FormReader) {
        self.reader = reader
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status }

    override var streamError: (any Error)? { failure }

    override var hasBytesAvailable: Bool { status == .open }

    override func open() { if status == .notOpen { status = .open } }

    override func close() { status = .closed }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        switch status {
        case .open: break
        case .error: return -1
        default: return 0
        }
        guard len > 0 else { return 0 }
        do {
            let count = try reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: len))
            if count == 0 { status = .atEnd }
            return count
        } catch {
            failure = error
            status = .error
            return -1
        }
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    /// The stream has no events: a reader waits.
    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
