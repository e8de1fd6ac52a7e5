import Foundation
import Glibc
import LoadingKitTransport

/// Writes a body into a file, with room on the disk ahead. The descriptor stays the owner's. Its functions may block, and give
/// the result of a system call.
package struct BodyFileWriter: Sendable {
    /// Room on the disk is asked for so many bytes at a time: with each write it would cost as much as the writing, and
    /// all at once would let a server that announces much, and sends little, fill the disk.
    private static let reservedStep: Int64 = 64 << 20

    package let descriptor: Int32
    /// Up to where there is room already.
    private var reserved: Int64 = 0
    /// Whether the file system gives room ahead, as far as is known.
    private var reserves = true

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameters:
    ///   - start: Where the bytes go.
    ///   - expected: How many bytes the file will have; below 0 where that is not known.
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

    /// What is behind so many bytes is dropped, and the room there.
    package mutating func truncate(to count: Int64) -> Int {
        reserved = 0
        return SystemCalls.truncate(descriptor, to: count)
    }

    /// Gives back room that was not needed, behind the last byte.
    package mutating func giveBackRoom(behind count: Int64) { if reserved > count { _ = truncate(to: count) } }

    /// The file's size stays what it is. Without room ahead, writing goes on all the same.
    private mutating func reserve(from count: Int64, for next: Int, _ expected: Int64) {
        let end = count + Int64(next)
        guard reserves, end > reserved, expected > end else { return }
        let goal = min(expected, count + max(Self.reservedStep, Int64(next)))
        reserves = SystemCalls.reserve(descriptor, from: count, count: goal - count) >= 0
        if reserves { reserved = goal }
    }
}
