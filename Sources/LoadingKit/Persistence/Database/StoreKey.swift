#if Persistence
    import Foundation
    import LoadingKitTransport

    /// The key that encrypts a store's secrets, and the key of the hashes by which they are found.
    struct StoreKey {
        let cipher: AES256GCM
        private let identityHash: KeyedHash
        private let bytes: Data

        private static let size = AES256GCM.keySize + KeyedHash.keySize

        /// - Parameter bytes: The contents of the file: the cipher's key, followed by the key of the identities.
        private init?(_ bytes: Data) {
            guard bytes.count == Self.size, let cipher = AES256GCM(key: Data(bytes.prefix(AES256GCM.keySize))),
                let hash = KeyedHash(key: Data(bytes.suffix(KeyedHash.keySize)))
            else { return nil }
            self.cipher = cipher
            identityHash = hash
            self.bytes = bytes
        }

        /// A hash by which a value is found. The value cannot be guessed from it without the key.
        func identity(of value: Data) throws -> Data {
            guard let code = identityHash.hash(of: value) else { throw StoreFailure.encryption }
            return code
        }

        /// Nil if there is no file.
        static func read(_ file: URL) throws -> StoreKey? {
            guard let bytes = try KeyFile(url: file, size: size).read() else { return nil }
            guard let key = StoreKey(bytes) else { throw StoreFailure.noKey(path: file.path) }
            return key
        }

        /// The key in the file. A file is created if there is none. An invalid key is renamed.
        ///
        /// - Parameter known: The key for a file that is created; nil for a new one.
        static func readOrMake(_ file: URL, _ known: StoreKey? = nil) throws -> StoreKey {
            guard let key = StoreKey(try KeyFile(url: file, size: size).readOrMake(known?.bytes)) else {
                throw StoreFailure.noKey(path: file.path)
            }
            return key
        }
    }

    /// A store's random key, in a separate file that only its user can read.
    struct KeyFile {
        let url: URL
        /// The size of the key in bytes.
        let size: Int

        /// Nil if there is no file.
        func read() throws -> Data? {
            let result = SystemCalls.open(url.path, O_RDONLY)
            if result == -Int(ENOENT) { return nil }
            let descriptor = Int32(try StoreFailure.check("open", url.path, result))
            defer { SystemCalls.close(descriptor) }
            var bytes = Data(count: size + 1)
            let count = bytes.withUnsafeMutableBytes { SystemCalls.read(descriptor, $0) }
            try StoreFailure.check("read", url.path, count)
            guard count == size else { throw StoreFailure.noKey(path: url.path) }
            return Data(bytes.prefix(count))
        }

        /// The key in the file. A file is created if there is none. An invalid key is renamed.
        ///
        /// - Parameter known: The key for a file that is created; nil for a new one.
        func readOrMake(_ known: Data? = nil) throws -> Data {
            do {
                if let key = try read() { return key }
            } catch StoreFailure.noKey {}
            try StoreFolder.make(url.deletingLastPathComponent())
            let folder = url.deletingLastPathComponent().path
            let result = SystemCalls.open(folder, O_RDONLY)
            let descriptor = Int32(try StoreFailure.check("open", folder, result))
            defer { SystemCalls.closeLocked(descriptor) }
            // One of several processes makes the key, and the others read it. Where the file system has no locks, the lock
            // counts as taken.
            _ = SystemCalls.lock(descriptor, LOCK_EX)
            do {
                if let key = try read() { return key }
            } catch StoreFailure.noKey {
                _ = SystemCalls.rename(url.path, url.path + ".damaged")
            }
            return try make(known, in: folder)
        }

        /// Writes the file under another name first. A process that was killed may have left a file with that name, which is
        /// replaced.
        private func make(_ known: Data?, in folder: String) throws -> Data {
            guard let bytes = known ?? SecureRandom.bytes(size) else { throw StoreFailure.encryption }
            let temporary = url.path + ".new"
            let result = SystemCalls.open(temporary, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
            let descriptor = Int32(try StoreFailure.check("open", temporary, result))
            defer { SystemCalls.close(descriptor) }
            do {
                let count = bytes.withUnsafeBytes { SystemCalls.write(descriptor, $0) }
                try StoreFailure.check("write", temporary, count == size ? count : min(count, -Int(EIO)))
                // The key must survive as long as the data that it encrypts.
                try StoreFailure.check("fsync", temporary, SystemCalls.synchronize(descriptor))
                try StoreFailure.check("rename", url.path, SystemCalls.rename(temporary, url.path))
                try StoreFailure.check("fsync", folder, SystemCalls.synchronizeFolder(folder))
            } catch {
                _ = SystemCalls.unlink(temporary)
                throw error
            }
            return bytes
        }
    }
#endif
