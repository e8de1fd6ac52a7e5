/// Bytes of a connection, and the pieces in which they arrive.
struct Transmission {
    let bytes: [UInt8]
    /// One after the other; together, all bytes.
    let pieces: [Range<Int>]

    /// In pieces of the same size, but for the last.
    init(_ bytes: [UInt8], pieces count: Int = 1) {
        self.bytes = bytes
        let size = (bytes.count + count - 1) / max(1, count)
        pieces = stride(from: 0, to: bytes.count, by: max(1, size)).map { $0..<min($0 + size, bytes.count) }
    }

    @inline(__always)
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { bytes in
            for piece in pieces { try body(UnsafeRawBufferPointer(rebasing: bytes[piece])) }
        }
    }
}
