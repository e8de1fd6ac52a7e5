#if Persistence
    import Foundation
    import LoadingKitTransport

    /// What a program's credentials are encrypted with, and what they are found by without being read.
    struct CredentialKey {
        let cipher: AES256GCM
        private let identityKey: Data

        private static let size = AES256GCM.keySize + 32

        /// - Parameter bytes: As they are in the file: the cipher's key, and that of the identities.
        private init?(_ bytes: Data) {
            guard bytes.count == Self.size, let cipher = AES256GCM(key: Data(bytes.prefix(AES256GCM.keySize))) else {
                return nil
            }
            self.cipher = cipher
            identityKey = Data(bytes.suffix(32))
        }

        /// A name for a value by which it is found again, and from which it cannot be guessed without the key.
        func identity(of value: Data) throws -> Data {
            guard let code = HMACSHA256.code(value, key: identityKey) else { throw StoreFailure.encryption }
            return code
        }

        // MARK: The file

        /// Nil when there is no file.
        static func read(_ file: URL) throws -> CredentialKey? {
            let result = SystemCalls.open(file.path, O_RDONLY)
            if result == -Int(ENOENT) { return nil }
            let descriptor = Int32(try StoreFailure.check("open", file.path, result))
            defer { SystemCalls.close(descriptor) }
            var bytes = Data(count: size + 1)
            let count = bytes.withUnsafeMutableBytes { SystemCalls.read(descriptor, $0) }
            try StoreFailure.check("read", file.path, count)
            guard let key = CredentialKey(Data(bytes.prefix(count))) else {
                throw StoreFailure.noKey(path: file.path)
            }
            return key
        }

        /// The key in the file, which is made where there is none. One that is no key is put aside.
        static func readOrMake(_ file: URL) throws -> CredentialKey {
            do {
                if let key = try read(file) { return key }
            } catch StoreFailure.noKey {
                _ = SystemCalls.rename(file.path, file.path + ".damaged")
            }
            try make(file)
            guard let key = try read(file) else { throw StoreFailure.noKey(path: file.path) }
            return key
        }

        /// Makes the file whole under another name first: whichever of several processes is the first gives it its own.
        private static func make(_ file: URL) throws {
            guard let bytes = SecureRandom.bytes(size) else { throw StoreFailure.encryption }
            try StoreFolder.make(file.deletingLastPathComponent())
            let temporary = file.path + ".\(UInt64.random(in: 0...UInt64.max))"
            let result = SystemCalls.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            let descriptor = Int32(try StoreFailure.check("open", temporary, result))
            defer {
                SystemCalls.close(descriptor)
                _ = SystemCalls.unlink(temporary)
            }
            let count = bytes.withUnsafeBytes { SystemCalls.write(descriptor, $0) }
            try StoreFailure.check("write", temporary, count == size ? count : min(count, -Int(EIO)))
            // A credential must not outlive its key.
            try StoreFailure.check("fsync", temporary, SystemCalls.synchronize(descriptor))
            let linked = SystemCalls.link(temporary, file.path)
            if linked != -Int(EEXIST) { try StoreFailure.check("link", file.path, linked) }
            try synchronize(file.deletingLastPathComponent())
        }

        private static func synchronize(_ folder: URL) throws {
            let descriptor = Int32(try StoreFailure.check("open", folder.path, SystemCalls.open(folder.path, O_RDONLY)))
            defer { SystemCalls.close(descriptor) }
            try StoreFailure.check("fsync", folder.path, SystemCalls.synchronize(descriptor))
        }
    }
#endif
