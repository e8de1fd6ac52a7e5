import Glibc
import LoadingKitPrimitives

/// The lists of revoked certificates in one file. They are read once for all their users, while this object exists and
/// the file does not change. A session reads its files when it is made, and its connections find them here, so that the
/// sessions' loops do not wait for files.
package final class RevocationListFile: Sendable {
    /// In bytes. The lists of the largest public authorities have some tens of millions.
    static let maximumSize = 64 << 20

    private struct Version: Hashable {
        let path: String
        let file: FileVersion
    }

    private struct Known {
        weak var file: RevocationListFile?
    }

    private static let known = Guarded<[Version: Known]>([:])

    let lists: RevocationLists

    private init(_ lists: RevocationLists) { self.lists = lists }

    /// Reads the sources that are files. Unreadable files are left out; a connection reports the reason.
    package static func read(_ sources: [RevocationListSource]) -> [RevocationListFile] {
        sources.compactMap { source in
            guard case .file(let path) = source else { return nil }
            return try? read(path)
        }
    }

    static func read(_ path: String) throws(TransportError) -> RevocationListFile {
        // Opened without blocking, as it may be a pipe.
        let descriptor = Int32(truncatingIfNeeded: try check(SystemCalls.open(path, O_RDONLY | O_NONBLOCK), path))
        defer { SystemCalls.close(descriptor) }
        var status = stat()
        try check(SystemCalls.fstat(descriptor, &status), path)
        guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable(path, "it is no regular file") }
        guard status.st_size <= maximumSize else {
            throw unreadable(path, "it has \(status.st_size) bytes, and may have \(maximumSize)")
        }
        let version = Version(path: path, file: FileVersion(status))
        if let file = known.withLock({ $0[version]?.file }) { return file }
        let bytes = try contents(descriptor, Int(status.st_size), path)
        let file = RevocationListFile(try RevocationLists([.bytes(bytes)], of: path))
        known.withLock { known in
            known = known.filter { $0.value.file != nil }
            known[version] = Known(file: file)
        }
        return file
    }

    private static func contents(_ descriptor: Int32, _ size: Int, _ path: String) throws(TransportError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, size))
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes {
                SystemCalls.read(descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[count...]))
            }
            guard try check(result, path) > 0 else { break }
            count += result
        }
        return Array(bytes.prefix(count))
    }

    @discardableResult
    private static func check(_ result: Int, _ path: String) throws(TransportError) -> Int {
        guard result < 0 else { return result }
        throw unreadable(path, SystemCalls.text(ofError: Int32(clamping: -result)))
    }

    private static func unreadable(_ path: String, _ reason: String) -> TransportError {
        TransportError.misconfiguredTLS("the revocation list \(path) cannot be read (\(reason))")
    }
}
