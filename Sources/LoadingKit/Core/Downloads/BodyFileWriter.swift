import Foundation
import Glibc
import LoadingKitTransport

/// Writes a body into a file, and reserves disk space ahead. The owner keeps the descriptor. Its functions may block,
/// and return the result of a system call.
package struct BodyFileWriter: Sendable {
    /// The number of bytes of disk space reserved at a time. A reservation for each write would cost as much as the
    /// write. A reservation for the whole body would let a server that announces a large body, and sends little, fill
    /// the disk.
    private static let reservedStep: Int64 = 64 << 20

    package let descriptor: Int32
    /// The end of the reserved disk space, as an offset in the file.
    private var reserved: Int64 = 0
    /// Whether the file system supports reservations, as far as is known.
    private var reserves = true

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameters:
    ///   - start: The offset at which the bytes are written.
    ///   - expected: The expected size of the file in bytes; negative where it is not known.
    ///   - didWrite: Called with each piece that was written.
    package mutating func write(
        _ data: Data, at start: Int64, expecting expected: Int64, _ didWrite: (UnsafeRawBufferPointer) -> Void
    ) -> Int {
        var place = start
        reserve(from: start, for: data.count, expected)
        for region in data.regions {
            let result = region.withUnsafeBytes { bytes in
                var rest = UnsafeRawBufferPointer(rebasing: bytes[...])
                while !rest.isEmpty {
                    let result = SystemCalls.write(descriptor, rest, at: place)
                    guard result > 0 else { return result == 0 ? -Int(EIO) : result }
                    didWrite(UnsafeRawBufferPointer(rebasing: rest[..<result]))
                    place += Int64(result)
                    rest = UnsafeRawBufferPointer(rebasing: rest[result...])
                }
                return 0
            }
            guard result >= 0 else { return result }
        }
        return 0
    }

    /// Removes the bytes behind `count`, and the space reserved there.
    package mutating func truncate(to count: Int64) -> Int {
        reserved = 0
        return SystemCalls.truncate(descriptor, to: count)
    }

    /// Releases the reserved space behind `count`, the end of the file's bytes.
    package mutating func giveBackRoom(behind count: Int64) { if reserved > count { _ = truncate(to: count) } }

    /// Does not change the file's size. Without a reservation, writing continues all the same.
    private mutating func reserve(from count: Int64, for next: Int, _ expected: Int64) {
        let end = count + Int64(next)
        guard reserves, end > reserved, expected > end else { return }
        let goal = min(expected, count + max(Self.reservedStep, Int64(next)))
        reserves = SystemCalls.reserve(descriptor, from: count, count: goal - count) >= 0
        if reserves { reserved = goal }
    }
}
