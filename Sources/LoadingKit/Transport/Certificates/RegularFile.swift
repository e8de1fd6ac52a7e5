import Glibc

/// Reads small files as they are. Blocks.
package enum RegularFile {
    package struct Failure: Error {
        let reason: String
    }

    /// The bytes of a file that is no pipe or device.
    ///
    /// - Parameter maximum: The size of the largest file that is read, in bytes.
    package static func read(_ path: String, upTo maximum: Int) throws(Failure) -> [UInt8] {
        // Opened without blocking, as it may be a pipe.
        let descriptor = Int32(truncatingIfNeeded: try check(SystemCalls.open(path, O_RDONLY | O_NONBLOCK)))
        defer { SystemCalls.close(descriptor) }
        var status = stat()
        try check(SystemCalls.fstat(descriptor, &status))
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(reason: "it is no regular file") }
        guard status.st_size <= maximum else {
            throw Failure(reason: "it has \(status.st_size) bytes, and may have \(maximum)")
        }
        return try contents(descriptor, Int(status.st_size))
    }

    private static func contents(_ descriptor: Int32, _ size: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, size))
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes {
                SystemCalls.read(descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[count...]))
            }
            guard try check(result) > 0 else { break }
            count += result
        }
        return Array(bytes.prefix(count))
    }

    @discardableResult
    private static func check(_ result: Int) throws(Failure) -> Int {
        guard result < 0 else { return result }
        throw Failure(reason: SystemCalls.text(ofError: Int32(clamping: -result)))
    }
}
