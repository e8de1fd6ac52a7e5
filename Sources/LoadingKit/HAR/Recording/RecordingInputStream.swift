import Foundation
import LoadingKitCore

/// The body of a request as a stream, which is copied while it is read. Read by one thread at a time.
final class RecordingInputStream: InputStream, ForwardingBodyStream {
    let source: InputStream
    private let copy: RecordedBody

    init(_ source: InputStream, _ copy: RecordedBody) {
        self.source = source
        self.copy = copy
        super.init(data: Data())
    }

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
        if count > 0 { copy.append(UnsafeRawBufferPointer(start: buffer, count: min(count, length))) }
        return count
    }

    func didRead(_ bytes: Data) { copy.append(bytes) }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }
}
