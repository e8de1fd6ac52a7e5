import Foundation
import LoadingKitTransport

/// A regular file, open for reading. Its functions may block; their asynchronous forms run on the thread pool for
/// blocking work.
package final class OpenFile: Sendable {
    package static let pieceSize = Int64(ChunkPool.chunkBytes)

    let path: String
    package let size: Int64
    /// The modification time, in nanoseconds since 1970.
    let modified: Int64
    private let descriptor: Int32

    private init(_ descriptor: Int32, _ path: String, _ status: stat) {
        self.descriptor = descriptor
        self.path = path
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }

    deinit { SystemCalls.close(descriptor) }

    package static func open(_ path: FilePath) async throws -> OpenFile {
        try await BlockingPool.shared.result { try open(path.path) }
    }

    static func open(_ path: String) throws -> OpenFile {
        var status = stat()
        // Checked first: opening may affect a device, or a program at the other end of a pipe.
        try check(SystemCalls.stat(path, &status), path)
        try requireRegular(status, path)
        // Non-blocking, because the path may be a pipe by now, and some files of `/proc` wait for events.
        let descriptor = Int32(truncatingIfNeeded: try check(SystemCalls.open(path, O_RDONLY | O_NONBLOCK), path))
        do {
            try check(SystemCalls.fstat(descriptor, &status), path)
            try requireRegular(status, path)
        } catch {
            SystemCalls.close(descriptor)
            throw error
        }
        return OpenFile(descriptor, path, status)
    }

    /// Devices and pipes may never end, or never deliver a byte.
    private static func requireRegular(_ status: stat, _ path: String) throws {
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw LoadFailure(.fileIsDirectory, "\(path) is a directory")
        case _: throw LoadFailure(.noPermissionsToReadFile, "\(path) is a device, pipe or socket, not a regular file")
        }
    }

    @discardableResult
    private static func check(_ result: Int, _ path: String) throws -> Int {
        guard result < 0 else { return result }
        let code = Int32(clamping: -result)
        let reason = SystemCalls.text(ofError: code)
        switch code {
        case ENOENT, ENOTDIR: throw LoadFailure(.fileDoesNotExist, "\(path) does not exist: \(reason)")
        case EACCES, EPERM, ELOOP: throw LoadFailure(.noPermissionsToReadFile, "\(path) may not be read: \(reason)")
        case EISDIR: throw LoadFailure(.fileIsDirectory, "\(path) is a directory")
        case _: throw LoadFailure(.cannotOpenFile, "\(path) cannot be opened: \(reason)")
        }
    }

    /// The next bytes, at most ``pieceSize``; empty at the file's end.
    package func read(at position: Int64, upTo end: Int64) async throws -> Data {
        try await BlockingPool.shared.result { try self.read(at: position, upTo: end) }
    }

    func read(at position: Int64, upTo end: Int64) throws -> Data {
        guard end > position else { return Data() }
        guard let (piece, result) = piece(end - position, { SystemCalls.read(descriptor, $0, at: position) }) else {
            throw LoadFailure.outOfMemory
        }
        guard result < 0 else { return piece }
        let reason = SystemCalls.text(ofError: Int32(clamping: -result))
        throw LoadFailure(.cannotOpenFile, "\(path) cannot be read: \(reason)")
    }

    /// The next bytes, at most ``pieceSize``, if the system has them in memory. Never blocks. Nil if the bytes would
    /// come from a disk or a network, cannot be read, or if the file system cannot tell.
    func readFromMemory(at position: Int64, upTo end: Int64) -> Data? {
        let read = piece(end - position) { SystemCalls.readFromMemory(descriptor, $0, at: position) }
        return read.flatMap { $0.result > 0 ? $0.bytes : nil }
    }

    /// Whether the system has the first and the last of these bytes in memory, and most likely those between them.
    func hasInMemory(at position: Int64, count: Int) -> Bool {
        [position, position + Int64(count) - 1].allSatisfy { position in
            var byte: UInt8 = 0
            return withUnsafeMutableBytes(of: &byte) { SystemCalls.readFromMemory(descriptor, $0, at: position) } == 1
        }
    }

    /// Sends bytes without copying them into the program's memory, where the system allows that. Throws where the file
    /// cannot be read, or has no bytes at the position.
    func send(at position: Int64, count: Int, to stream: ByteStream) throws -> ByteStream.WriteResult {
        switch stream.write(fromFile: descriptor, at: position, count) {
        case .bytes(0): throw missing(position)
        case .failed(let error) where Self.mayBeReadInstead(after: error):
            let bytes = try read(at: position, upTo: position + min(Int64(count), 64 * 1024))
            guard !bytes.isEmpty else { throw missing(position) }
            return bytes.withUnsafeBytes { stream.write($0) }
        case let result: return result
        }
    }

    /// Whether `sendfile(2)` failed for the file's sake, or because it cannot send this kind of file.
    private static func mayBeReadInstead(after error: TransportError) -> Bool {
        guard case .systemCall(.sendfile, let code) = error.cause else { return false }
        return [EINVAL, ENOSYS, EPERM, EOPNOTSUPP, EIO].contains(code)
    }

    /// The error of a file that has fewer bytes than when its upload began.
    func missing(_ position: Int64) -> LoadFailure {
        LoadFailure(
            .requestBodyStreamExhausted, "\(path) was made shorter while it was sent: byte \(position) is missing")
    }

    /// Nil when the system has no memory.
    private func piece(
        _ most: Int64, _ read: (UnsafeMutableRawBufferPointer) -> Int
    ) -> (bytes: Data, result: Int)? {
        guard let chunk = BodyChunk(.ofProcess) else { return nil }
        let result = read(UnsafeMutableRawBufferPointer(rebasing: chunk.room.prefix(Int(clamping: max(0, most)))))
        chunk.filled(result)
        return (chunk.data, result)
    }
}

/// The path on this machine that a `file:` URL names (RFC 8089).
package struct FilePath {
    package let path: String

    package init(_ url: URL) throws {
        if let host = url.host(percentEncoded: false), !host.isEmpty, host.lowercased() != "localhost" {
            throw LoadFailure(.badURL, "the URL names a file on another host, \(host)")
        }
        guard let path = url.absoluteURL.path(percentEncoded: true).removingPercentEncoding else {
            throw LoadFailure(.badURL, "the path is not text in UTF-8")
        }
        // The meaning of a relative path would depend on the process's working directory.
        guard path.utf8.first == UInt8(ascii: "/") else { throw LoadFailure(.badURL, "the URL has no absolute path") }
        // The system would end the path at the NUL byte.
        guard !path.utf8.contains(0) else { throw LoadFailure(.badURL, "the path has a NUL byte in it") }
        self.path = path
    }
}
