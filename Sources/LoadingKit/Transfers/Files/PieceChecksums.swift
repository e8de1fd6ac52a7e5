import CLoadingKitShims
import Foundation

/// Checksums (CRC-32C) of a file's bytes, in pieces of 16 MiB, as they come.
struct PieceChecksums {
    private static let pieceSize = 16 << 20

    private var complete = Data()
    private var last: UInt32 = 0
    private var lastCount = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let next = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceSize - lastCount))
            last = lk_crc32c(last, next.baseAddress, next.count)
            lastCount += next.count
            rest = rest.dropFirst(next.count)
            if lastCount == Self.pieceSize {
                complete.append(checksum: last)
                (last, lastCount) = (0, 0)
            }
        }
    }

    /// Of all bytes up to now.
    var data: Data {
        guard lastCount > 0 else { return complete }
        var all = complete
        all.append(checksum: last)
        return all
    }
}

extension Data {
    fileprivate mutating func append(checksum: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: checksum >> shift)) }
    }
}
