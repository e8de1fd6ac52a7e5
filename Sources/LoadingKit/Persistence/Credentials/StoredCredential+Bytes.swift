#if Persistence
    import Foundation
    import LoadingKitCore

    /// A credential in the form of bytes to encrypt.
    extension StoredCredential {
        private static let version: UInt8 = 1

        /// Nil for a credential without user and password.
        var bytes: Data? {
            guard let user = credential.user, let password = credential.password else { return nil }
            var writer = ByteWriter()
            writer.put(Self.version)
            writer.put(space)
            writer.put(user)
            writer.put(password)
            writer.put(UInt8(truncatingIfNeeded: credential.persistence.rawValue))
            return writer.data
        }

        init?(_ bytes: Data, isDefault: Bool) {
            let parts = bytes.withUnsafeBytes { bytes -> (URLProtectionSpace, URLCredential)? in
                var reader = ByteReader(bytes)
                guard reader.readByte() == Self.version, let space = reader.readProtectionSpace(),
                    let user = reader.readString(),
                    let password = reader.readString(),
                    let persistence = reader.readByte().flatMap({ URLCredential.Persistence(rawValue: UInt($0)) }),
                    reader.isAtEnd
                else { return nil }
                return (space, URLCredential(user: user, password: password, persistence: persistence))
            }
            guard let parts else { return nil }
            self.init(space: parts.0, credential: parts.1, isDefault: isDefault)
        }
    }

    extension ByteWriter {
        mutating func put(_ space: URLProtectionSpace) {
            let parts = space.parts
            put(parts.isOfProxy)
            put(parts.host)
            put(Int64(parts.port))
            put(parts.kind) { $0.put($1) }
            put(parts.realm) { $0.put($1) }
            put(parts.authenticationMethod)
        }
    }

    extension ByteReader {
        fileprivate mutating func readProtectionSpace() -> URLProtectionSpace? {
            guard let isProxy = readFlag(), let host = readString(), let port = readNumber(),
                let kind = readOptional({ $0.readString() }),
                let realm = readOptional({ $0.readString() }), let method = readString()
            else { return nil }
            if isProxy {
                return URLProtectionSpace(
                    proxyHost: host, port: Int(port), type: kind, realm: realm, authenticationMethod: method)
            }
            return URLProtectionSpace(
                host: host, port: Int(port), protocol: kind, realm: realm, authenticationMethod: method)
        }
    }
#endif
