import CLoadingKitShims
import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The file of mode 0600 in which a transfer's response body is assembled. Its functions may block.
///
/// Only one thread at a time writes. Another thread may synchronize the written bytes meanwhile.
final class PartFile: @unchecked Sendable {  // `written`: the lock; the rest: one thread at a time writes
    /// How far the file was written. With its position, a closed file is opened again without being read.
    struct Position {
        fileprivate(set) var count: Int64 = 0
        fileprivate var checksums = PieceChecksums()
    }

    /// Whether an attempt may change its part file. It is revoked when the attempt is stopped, perhaps while the file
    /// is being opened: the next attempt may be writing to the file by then.
    final class Permission: Sendable {
        /// The lock is held during a change.
        fileprivate let isValid = Guarded(true)

        /// Waits for a change that is under way.
        func revoke() { isValid.withLock { $0 = false } }
    }

    private struct Written {
        var position = Position()
        /// The number of times that the file was started over.
        var round = 0
        /// The number of bytes that the last synchronization covers, which may be under way.
        var synchronized: Int64 = 0
    }

    private static let readSize = 1 << 20

    let path: String
    private let descriptor: Int32
    private var writer: BodyFileWriter
    private let written = Guarded(Written())
    private let permission: Permission
    /// Injected failures of a test that were in effect when the file was opened also apply to its writes.
    private let faults = FaultPlan.current

    /// Opens or creates the file. The bytes to continue from are verified; all other bytes are dropped.
    ///
    /// - Parameters:
    ///   - position: The position at which this process has closed the file, which then need not be read.
    ///   - record: The journal's record of the file.
    ///   - bootIdentifier: The identifier of the current boot. Within the same boot, the bytes behind those of the
    ///     record are as they were written, since the system keeps them when a process is killed.
    ///   - permission: The permission to change the file. Throws where it was revoked in the meantime.
    init(
        _ path: String, record: PartRecord?, bootIdentifier: String, position: Position? = nil,
        permission: Permission = Permission()
    ) throws {
        self.path = path
        self.permission = permission
        descriptor = try PartFailure.check(
            SystemCalls.open(path, O_RDWR | O_CREAT | O_NOFOLLOW), .cannotCreateFile,
            "the part file \(path) cannot be opened")
        writer = BodyFileWriter(descriptor)
        var status = stat()
        let looked = SystemCalls.fstat(descriptor, &status)
        guard looked >= 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            throw PartFailure(.cannotOpenFile, "\(path) is no file of the user's", min(looked, -Int(EACCES)))
        }
        let size = Int64(status.st_size)
        if let position, record != nil, position.count <= size {
            written.withLock { $0.position = position }
        } else if let record, let kept = keep(record, size, record.bootIdentifier == bootIdentifier) {
            written.withLock { $0.position = kept }
        }
        written.withLock { $0.synchronized = $0.position.count }
        try permission.isValid.withLock { isValid in
            guard isValid else { throw LoadFailure(.cancelled, "the attempt was stopped") }
            try truncate(to: count)
        }
    }

    deinit { SystemCalls.close(descriptor) }

    var count: Int64 { position.count }

    var position: Position { written.withLock { $0.position } }
    /// The number of bytes that were written since the last synchronization.
    var unsynchronized: Int64 { written.withLock { $0.position.count - $0.synchronized } }

    /// Prevents further writes, also where another object still holds the file. Waits for a write that is under way.
    func close() { permission.revoke() }

    /// The position from which the file continues; nil where its bytes differ from those of the record.
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

    /// Drops all bytes of the file.
    func startOver() throws {
        try permission.isValid.withLock { isValid in
            guard isValid else { return }
            written.withLock { $0 = Written(round: $0.round + 1) }
            try truncate(to: 0)
        }
    }

    /// - Parameter expected: The number of bytes that the file will have; below 0 where it is not known.
    func write(_ data: Data, expecting expected: Int64) throws {
        try permission.isValid.withLock { isValid in
            guard isValid else { return }
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

    /// Releases preallocated disk space that was not needed. Called after the last byte.
    func giveBackRoom() { writer.giveBackRoom(behind: count) }

    // MARK: Synchronizing

    /// Synchronizes the bytes written so far, and returns their number and checksums. Nil where the file was started
    /// over meanwhile. From any thread.
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

/// CRC-32C checksums of a file's bytes in pieces of 16 MiB, computed as the bytes come.
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

    var data: Data {
        guard lastCount > 0 else { return complete }
        return withUnsafeBytes(of: last.bigEndian) { complete + $0 }
    }
}
