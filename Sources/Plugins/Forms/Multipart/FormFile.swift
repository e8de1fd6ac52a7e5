import Foundation

/// A file of a form while it is sent: exactly the bytes that it had when the body was made, or an error.
final class FormFile {
    private let path: String
    private let size: Int64
    private var remaining: Int64
    private let descriptor: Int32

    /// - Parameter size: the size in bytes when the body was made.
    init(path: String, size: Int64) throws(MultipartFormError) {
        self.path = path
        self.size = size
        remaining = size
        // A path that has become a pipe must not block the thread.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadableFile(path: path, errno: errno) }
        self.descriptor = descriptor
        try checkSize()
    }

    deinit { close(descriptor) }

    /// The size of the file at a path, in bytes.
    static func size(of path: String) throws(MultipartFormError) -> Int64 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .unreadableFile(path: path, errno: errno) }
        guard access(path, R_OK) == 0 else { throw .unreadableFile(path: path, errno: errno) }
        return try size(status, path)
    }

    private static func size(_ status: stat, _ path: String) throws(MultipartFormError) -> Int64 {
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile(path: path) }
        return Int64(status.st_size)
    }

    private func checkSize() throws(MultipartFormError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadableFile(path: path, errno: errno) }
        let found = try Self.size(status, path)
        guard found == size else { throw .fileChanged(path: path, expected: size, found: found) }
    }

    /// Reads bytes into the buffer, which is not empty, and returns their number; 0 at the end. When the check at the
    /// end fails, the next boundary is not sent: the server never gets a body that looks complete.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard remaining > 0 else {
            try checkSize()
            return 0
        }
        let wanted = min(buffer.count, Int(clamping: remaining))
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, wanted)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw MultipartFormError.unreadableFile(path: path, errno: errno) }
            if count == 0 { throw MultipartFormError.fileChanged(path: path, expected: size, found: size - remaining) }
            remaining -= Int64(count)
            return count
        }
    }
}
