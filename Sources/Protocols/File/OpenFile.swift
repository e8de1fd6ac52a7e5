import Foundation
import LoadingKitCore
import LoadingKitTransport

/// A regular file, open for reading, read on the pool of threads for what blocks.
final class OpenFile: Sendable {
    /// Bytes read at a time.
    private static let pieceSize: Int64 = 256 * 1024

    let size: Int64
    private let descriptor: Int32

    private init(_ descriptor: Int32, size: Int64) {
        self.descriptor = descriptor
        self.size = size
    }

    deinit { SystemCalls.close(descriptor) }

    static func open(_ path: FilePath) async throws -> OpenFile {
        try await onPool { try openBlocking(path.path) }
    }

    private static func openBlocking(_ path: String) throws -> OpenFile {
        // Not blocking, so that a FIFO without a writer gives a descriptor to look at instead of a wait.
        let result = SystemCalls.open(path, O_RDONLY | O_NONBLOCK)
        guard result >= 0 else { throw failure(Int32(-result), path) }
        let descriptor = Int32(result)
        var status = stat()
        let code = SystemCalls.fstat(descriptor, &status)
        guard code >= 0 else {
            SystemCalls.close(descriptor)
            throw failure(Int32(-code), path)
        }
        // Devices and pipes may never end, or never begin.
        guard status.st_mode & S_IFMT == S_IFREG else {
            SystemCalls.close(descriptor)
            if status.st_mode & S_IFMT == S_IFDIR { throw LoadFailure(.fileIsDirectory, "\(path) is a directory") }
            throw LoadFailure(.noPermissionsToReadFile, "\(path) is no regular file")
        }
        return OpenFile(descriptor, size: Int64(status.st_size))
    }

    private static func failure(_ code: Int32, _ path: String) -> LoadFailure {
        let reason = String(cString: strerror(code))
        return switch code {
        case ENOENT, ENOTDIR: LoadFailure(.fileDoesNotExist, "\(path) does not exist: \(reason)")
        case EACCES, EPERM, ELOOP: LoadFailure(.noPermissionsToReadFile, "\(path) may not be read: \(reason)")
        case EISDIR: LoadFailure(.fileIsDirectory, "\(path) is a directory")
        case _: LoadFailure(.cannotOpenFile, "\(path) cannot be opened: \(reason)")
        }
    }

    /// The next bytes; none at the file's end.
    func read(at position: Int64, upTo end: Int64) async throws -> Data {
        try await Self.onPool { try self.readBlocking(position, min(end - position, Self.pieceSize)) }
    }

    private func readBlocking(_ position: Int64, _ count: Int64) throws -> Data {
        var piece = Data(count: Int(clamping: count))
        let result = piece.withUnsafeMutableBytes { SystemCalls.read(descriptor, $0, at: position) }
        guard result >= 0 else {
            throw LoadFailure(.cannotOpenFile, "reading failed: \(String(cString: strerror(Int32(-result))))")
        }
        return piece.prefix(result)
    }

    private static func onPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withUnsafeThrowingContinuation { continuation in
            BlockingPool.shared.run { continuation.resume(with: Result { try body() }) }
        }
    }
}
