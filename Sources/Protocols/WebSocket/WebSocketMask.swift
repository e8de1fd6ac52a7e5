/// Masks or unmasks a frame's payload by exclusive or with four repeated bytes (RFC 6455 §5.3).
public struct WebSocketMask: Sendable, Hashable {
    /// The four bytes, the first in the lowest bits, rotated so that the lowest byte is the next one.
    private var key: UInt32

    /// A mask with these four bytes.
    public init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) {
        key = UInt32(a) | UInt32(b) << 8 | UInt32(c) << 16 | UInt32(d) << 24
    }

    init(bits: UInt32) { key = bits }

    /// The four bytes in order, beginning with the next one to apply.
    public var bytes: (UInt8, UInt8, UInt8, UInt8) {
        (
            UInt8(truncatingIfNeeded: key), UInt8(truncatingIfNeeded: key >> 8), UInt8(truncatingIfNeeded: key >> 16),
            UInt8(truncatingIfNeeded: key >> 24)
        )
    }

    /// Masks or unmasks bytes in place. The next call continues behind them.
    public mutating func apply(to bytes: UnsafeMutableRawBufferPointer) {
        let wide = SIMD4<UInt64>(repeating: (UInt64(key) << 32 | UInt64(key)).littleEndian)
        let size = MemoryLayout<SIMD4<UInt64>>.size
        var offset = 0
        while bytes.count - offset >= size {
            let masked = bytes.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt64>.self) ^ wide
            bytes.storeBytes(of: masked, toByteOffset: offset, as: SIMD4<UInt64>.self)
            offset += size
        }
        for index in offset..<bytes.count {
            bytes[index] ^= UInt8(truncatingIfNeeded: key)
            key = key >> 8 | key << 24
        }
    }

    /// Appends bytes in masked form. The next call continues behind them.
    public mutating func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        let start = output.count
        output.append(contentsOf: bytes)
        output.withUnsafeMutableBytes { apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }
}

/// Unpredictable masking keys, so that no program can determine the bytes on the wire (RFC 6455 §10.3). The system
/// provides many of them at a time.
struct MaskKeys: Sendable {
    private static let batch = 64
    private var keys: [UInt32] = []

    mutating func next() -> WebSocketMask {
        if keys.isEmpty {
            var generator = SystemRandomNumberGenerator()
            for _ in 0..<Self.batch / 2 {
                let bits = generator.next()
                keys.append(UInt32(truncatingIfNeeded: bits))
                keys.append(UInt32(truncatingIfNeeded: bits >> 32))
            }
        }
        return WebSocketMask(bits: keys.popLast() ?? 0)
    }
}
