/// A client's certificate and key in PEM files, which are read again if they have changed.
package final class TLSIdentityFiles: Sendable {
    package let paths: TLSIdentityPaths
    private let files: FollowedFiles<TLSIdentity>

    /// Reads the files. Blocks.
    package init(_ paths: TLSIdentityPaths) throws(IdentityFailure) {
        self.paths = paths
        do {
            files = try FollowedFiles(paths, TimeSource.system.now, patience: FileChecks.patience)
        } catch {
            _ = try paths.identity()
            throw .unreadable("\(paths.certificates) has just changed")
        }
    }

    /// The identity after a check of the files, if one is due. While they cannot be read, or do not belong together, it
    /// is the one that was read before.
    package var identity: TLSIdentity { files.value(TimeSource.system.now) }

    /// The next connection checks the files, however recent the last check is.
    package func checkAtNextUse() { files.checkAtNextUse() }
}

/// The paths of a client's certificate and key.
package struct TLSIdentityPaths: FileSource, Hashable {
    /// In bytes.
    private static let maximumSize = 1 << 20

    /// The certificate and its intermediates.
    package let certificates: String
    package let key: String
    /// The key's password, where it is encrypted.
    package let password: String?

    package init(certificates: String, key: String, password: String?) {
        (self.certificates, self.key, self.password) = (certificates, key, password)
    }

    var version: Int { [certificates, key].map { FileVersion(path: $0) }.hashValue }

    func read() throws(TransportError) -> (value: TLSIdentity, places: Set<String>) {
        do { return (try identity(), [certificates, key]) } catch {
            throw TransportError.misconfiguredTLS("the identity in \(certificates) cannot be read (\(error))")
        }
    }

    fileprivate func identity() throws(IdentityFailure) -> TLSIdentity {
        let (certificates, key) = (try Self.bytes(certificates), try Self.bytes(key))
        return try TLSIdentity(certificatesPEM: certificates, keyPEM: key, password: password)
    }

    private static func bytes(_ path: String) throws(IdentityFailure) -> [UInt8] {
        do { return try RegularFile.read(path, upTo: maximumSize) } catch {
            throw .unreadable("\(path): \(error.reason)")
        }
    }
}
