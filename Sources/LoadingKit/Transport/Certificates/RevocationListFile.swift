import LoadingKitPrimitives

/// The lists of revoked certificates in one file, which are read again if the file has changed. They are read once for
/// all their users, while this object exists. A session reads its files when it is made, and its connections find them
/// here, so that the sessions' loops do not wait for files.
package final class RevocationListFile: Sendable {
    private struct Known {
        weak var file: RevocationListFile?
    }

    private static let known = Guarded<[String: Known]>([:])

    private let file: FollowedFiles<RevocationLists>

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
        let bytes: [UInt8]
        do { bytes = try RegularFile.read(path, upTo: Self.maximumSize) } catch {
            throw TransportError.misconfiguredTLS("the revocation list \(path) cannot be read (\(error.reason))")
        }
        return (try RevocationLists([.bytes(bytes)], of: path), [path])
    }
}
