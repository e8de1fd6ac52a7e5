/// Memory into which a message is copied before each reading, as a peer overwrites what it reads.
final class ReceiveBuffer {
    private let bytes: [UInt8]
    private let memory: UnsafeMutableRawBufferPointer

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        memory = .allocate(byteCount: bytes.count, alignment: 64)
    }

    deinit { memory.deallocate() }

    /// The message, as if it had just come.
    @inline(__always)
    func receive() -> UnsafeMutableRawBufferPointer {
        memory.copyBytes(from: bytes)
        return memory
    }
}
