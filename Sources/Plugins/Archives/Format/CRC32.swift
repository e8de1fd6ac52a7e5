import CLoadingKitZlib
import Foundation

/// The checksum of members (APPNOTE 4.4.7), computed by zlib.
struct CRC32: Sendable, Equatable {
    private(set) var value: UInt32 = 0

    init() {}

    init(_ bytes: some ContiguousBytes) { update(bytes) }

    mutating func update(_ bytes: some ContiguousBytes) {
        value = bytes.withUnsafeBytes { bytes in
            var (value, rest) = (uLong(value), bytes[...])
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
                value = crc32(value, piece.bindMemory(to: UInt8.self).baseAddress, uInt(piece.count))
                rest = rest.dropFirst(piece.count)
            }
            return UInt32(truncatingIfNeeded: value)
        }
    }
}
