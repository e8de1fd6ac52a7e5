import Glibc
import LoadingKitPrimitives

/// The lists of revoked certificates in one file, which are read again if the file has changed. They are read once for
/// all their users, while this object exists. A session reads its files when it is made, and its connections find them
/// here, so that the sessions' loops do not wait for files.
package final class RevocationListFile: Sendable {
    private struct Known {
        weak var file: RevocationListFile?
    }

    private static let known = Guarded<[String: Known]>([:])

    private let file: FollowedFiles<RevocationListPath>

    private init(_ path: String) throws(TransportError) {
        file = try FollowedFiles(
            RevocationListPath(path: path), TimeSource.system.now, patience: FileChecks.patience)
    }

    /// The lists after a check of the file, if one is due. They are the same object until the file changes.
    var lists: RevocationLists { file.value(TimeSource.system.now) }

    /// Reads the sources that are files. Unreadable files are left out; a connection reports the reason.
    package static func read(_ sources: [RevocationListSource]) -> [RevocationListFile] {
        let files = sources.compactMap { source -> RevocationListFile? in
            guard case .file(let path) = source else { return nil }
            return try? read(path)
        }
        for file in files { file.checkAtNextUse() }
        return files
    }

    static func read(_ path: String) throws(TransportError) -> RevocationListFile {
        if let file = known.withLock({ $0[path]?.file }) { return file }
        let file = try RevocationListFile(path)
        known.withLock { known in
            known = known.filter { $0.value.file != nil }
            known[path] = Known(file: file)
        }
        return file
    }

    /// The next connection checks the file, however recent the last check is.
    package func checkAtNextUse() { file.checkAtNextUse() }
}

/// The path of a file with lists of revoked certificates.
struct RevocationListPath: FileSource {
    /// In bytes. The lists of the largest public authorities have some tens of millions.
    private static let maximumSize = 64 << 20

    let path: String

    var version: Int { FileVersion(path: path).hashValue }

    func read() throws(TransportError) -> (value: RevocationLists, places: Set<String>) {
        // Opened without blocking, as it may be a pipe.
        let descriptor = Int32(truncatingIfNeeded: try check(SystemCalls.open(path, O_RDONLY | O_NONBLOCK)))
        defer { SystemCalls.close(descriptor) }
        var status = stat()
        try check(SystemCalls.fstat(descriptor, &status))
        guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable("it is no regular file") }
        guard status.st_size <= Self.maximumSize else {
            throw unreadable("it has \(status.st_size) bytes, and may have \(Self.maximumSize)")
        }
        let bytes = try contents(descriptor, Int(status.st_size))
        return (try RevocationLists([.bytes(bytes)], of: path), [path])
    }

    private func contents(_ descriptor: Int32, _ size: Int) throws(TransportError) -> [UInt8] {
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
    private func check(_ result: Int) throws(TransportError) -> Int {
        guard result < 0 else { return result }
        throw unreadable(SystemCalls.text(ofError: Int32(clamping: -result)))
    }

    private func unreadable(_ reason: String) -> TransportError {
        TransportError.misconfiguredTLS("the revocation list \(path) cannot be read (\(reason))")
    }
}
