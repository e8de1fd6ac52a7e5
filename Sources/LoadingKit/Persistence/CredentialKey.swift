#if Persistence
    import Foundation
    import LoadingKitTransport

    /// What a program's credentials are encrypted with, and what they are found by without being read.
    struct CredentialKey {
        let cipher: AES256GCM
        private let identityHash: KeyedHash

        private static let size = AES256GCM.keySize + KeyedHash.keySize

        /// - Parameter bytes: As they are in the file: the cipher's key, and that of the identities.
        private init?(_ bytes: Data) {
            guard bytes.count == Self.size, let cipher = AES256GCM(key: Data(bytes.prefix(AES256GCM.keySize))),
                let hash = KeyedHash(key: Data(bytes.suffix(KeyedHash.keySize)))
            else { return nil }
            self.cipher = cipher
            identityHash = hash
        }

        /// A name for a value by which it is found again, and from which it cannot be guessed without the key.
        func identity(of value: Data) throws -> Data {
            guard let code = identityHash.hash(of: value) else { throw StoreFailure.encryption }
            return code
        }

        /// Nil when there is no file.
        static func read(_ file: URL) throws -> CredentialKey? {
            guard let bytes = try KeyFile(url: file, size: size).read() else { return nil }
            guard let key = CredentialKey(bytes) else { throw StoreFailure.noKey(path: file.path) }
            return key
        }

        /// The key in the file, which is made where there is none. One that is no key is put aside.
        static func readOrMake(_ file: URL) throws -> CredentialKey {
            guard let key = CredentialKey(try KeyFile(url: file, size: size).readOrMake()) else {
                throw StoreFailure.noKey(path: file.path)
            }
            return key
        }
    }
#endif
