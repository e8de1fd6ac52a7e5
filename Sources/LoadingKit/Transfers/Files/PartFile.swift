import CLoadingKitShims
import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The file that a transfer's response is put together in, of mode 0600. Its functions may block.
///
/// One thread at a time writes. Meanwhile another may have what was written put on the disk.
final class PartFile: @unchecked Sendable {  // `written`: the lock; the rest: one thread at a time writes
    /// How far it was written. With this a file that was closed is opened again without being read.
    struct Position {
        fileprivate(set) var count: Int64 = 0
        fileprivate var checksums = PieceChecksums()
    }

    private struct Written {
        var position = Position()
        /// How often it was begun anew.
        var round = 0
        /// Up to where it was put on the disk when that was begun last.
        var synchronized: Int64 = 0
    }

    private static let readSize = 1 << 20

    let path: String
    private let descriptor: Int32
    private var writer: BodyFileWriter
    private let written = Guarded(Written())
    /// Whether it may be written. Held while it is.
    private let isOpen = Guarded(true)
    /// The failures that a test injects where it is opened also concern its writing.
    private let faults = FaultPlan.current

    /// Opens the file, or makes it. What it goes on from is verified; all else is dropped.
    ///
    /// - Parameters:
    ///   - position: Where this process has closed it: it need not be read.
    ///   - record: What the journal vouches for.
    ///   - bootIdentifier: Of this start of the system. Within the same one, bytes behind those of the record are as they were
    ///     written, since the system keeps them when a process is killed.
    init(_ path: String, record: PartRecord?, bootIdentifier: String, position: Position? = nil) throws {
        self.path = path
        descriptor = try PartFailure.check(
            SystemCalls.open(path, O_RDWR | O_CREAT | O_NOFOLLOW), .cannotCreateFile,
            "the part file \(path) cannot be opened")
        writer = BodyFileWriter(descriptor)
        var status = stat()
        let looked = SystemCalls.fstat(descriptor, &status)
        guard looked >= 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == getuid() else {
            throw PartFailure(.cannotOpenFile, "\(path) is no file of the user's", min(looked, -Int(EACCES)))
        }
        let size = Int64(status.st_size)
        if let position, record != nil, position.count <= size {
            written.withLock { $0.position = position }
        } else if let record, let kept = keep(record, size, record.bootIdentifier == bootIdentifier) {
            written.withLock { $0.position = kept }
        }
        written.withLock { $0.synchronized = $0.position.count }
        try truncate(to: count)
    }

    deinit { SystemCalls.close(descriptor) }

    /// Bytes from the beginning that are written.
    var count: Int64 { position.count }

    var position: Position { written.withLock { $0.position } }
    /// Bytes that were written since it was put on the disk.
    var unsynchronized: Int64 { written.withLock { $0.position.count - $0.synchronized } }

    /// Nothing is written any more, also where something holds the file still. Waits for what is just being written.
    func close() { isOpen.withLock { $0 = false } }

    /// Nil where the file has other bytes than those that the record says.
    private func keep(_ record: PartRecord, _ size: Int64, _ trustsRest: Bool) -> Position? {
        guard size >= record.count, record.count >= 0 else { return nil }
        var kept = Position()
        guard read(&kept, upTo: record.count), kept.checksums.data == record.checksums else { return nil }
        guard trustsRest, size > record.count else { return kept }
        let vouched = kept
        return read(&kept, upTo: size) ? kept : vouched
    }

    private func read(_ written: inout Position, upTo end: Int64) -> Bool {
        var buffer = Data(count: Self.readSize)
        while written.count < end {
            let limit = Int(clamping: min(Int64(Self.readSize), end - written.count))
            let count = buffer.withUnsafeMutableBytes { bytes in
                let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[..<limit])
                let count = SystemCalls.read(descriptor, piece, at: written.count)
                if count > 0 { written.checksums.update(UnsafeRawBufferPointer(rebasing: piece[..<count])) }
                return count
            }
            guard count > 0 else { return false }
            written.count += Int64(count)
        }
        return true
    }

    // MARK: Writing

    /// What was written is dropped.
    func startOver() throws {
        try isOpen.withLock { isOpen in
            guard isOpen else { return }
            written.withLock { $0 = Written(round: $0.round + 1) }
            try truncate(to: 0)
        }
    }

    /// - Parameter expected: How many bytes the file will have; below 0 where that is not known.
    func write(_ data: Data, expecting expected: Int64) throws {
        try isOpen.withLock { isOpen in
            guard isOpen else { return }
            guard let faults else { return try append(data, expected) }
            try faults.run { try append(data, expected) }
        }
    }

    private func append(_ data: Data, _ expected: Int64) throws {
        let result = writer.write(data, at: count, expecting: expected) { piece in
            written.withLock { written in
                written.position.checksums.update(piece)
                written.position.count += Int64(piece.count)
            }
        }
        try PartFailure.check(result, .cannotWriteToFile, "the part file \(path) cannot be written")
    }

    private func truncate(to count: Int64) throws {
        try PartFailure.check(
            writer.truncate(to: count), .cannotWriteToFile, "the part file \(path) cannot be shortened")
    }

    /// Gives back room that was not needed. After the last byte.
    func giveBackRoom() { writer.giveBackRoom(behind: count) }

    // MARK: Putting it on the disk

    /// Puts on the disk what was written up to now, and gives how much that is, with its checksums. Nil where the file was
    /// begun anew meanwhile. From any thread.
    func synchronize() throws -> (count: Int64, checksums: Data)? {
        let before = written.withLock { written in
            written.synchronized = written.position.count
            return (written.position.count, written.position.checksums.data, written.round)
        }
        try PartFailure.check(
            SystemCalls.synchronizeData(descriptor), .cannotWriteToFile,
            "the part file \(path) cannot be put on the disk")
        return written.withLock { $0.round } == before.2 ? (before.0, before.1) : nil
    }
}

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
                complete = data
                (last, lastCount) = (0, 0)
            }
        }
    }

    /// Of all bytes up to now.
    var data: Data {
        guard lastCount > 0 else { return complete }
        return withUnsafeBytes(of: last.bigEndian) { complete + $0 }
    }
}
