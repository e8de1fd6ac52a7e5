#if Persistence
    import Foundation
    import LoadingKitCore

    /// Stores credentials in an SQLite database, encrypted with AES-256-GCM. The key is in a file beside it.
    ///
    /// Rows are found by keyed hashes of the space and the user, which are encrypted as well. The database alone
    /// therefore discloses only the number of credentials, and which of them belong to the same space. The key, which
    /// each process of the same user can read, discloses all of them.
    package final class CredentialDatabase: CredentialStore {
        private static let schema = StoreSchema(steps: [
            """
            CREATE TABLE credential (
                identity BLOB PRIMARY KEY NOT NULL, space BLOB NOT NULL, isDefault INTEGER NOT NULL,
                sealed BLOB NOT NULL
            ) WITHOUT ROWID;
            CREATE INDEX credentialBySpace ON credential (space);
            """
        ])

        private let database: StoreDatabase
        private let keyFile: URL
        private let writes: WriteBehind<CredentialChange>

        package init(folder: URL, log: StoreLog = StoreLog()) {
            let database = StoreDatabase(
                url: folder.appendingPathComponent("Credentials.sqlite"), schema: Self.schema, log: log)
            let keyFile = folder.appendingPathComponent("Credentials.key")
            self.database = database
            self.keyFile = keyFile
            writes = WriteBehind { changes in
                do {
                    try Self.write(changes, to: database, keyFile)
                    return []
                } catch {
                    database.report(error, "permanent credentials are kept in memory alone until it can be written")
                    return WriteBehind.kept(changes)
                }
            }
        }

        // MARK: Reading

        package func load() throws -> [StoredCredential] {
            do {
                guard database.exists else { return [] }
                let key = try StoreKey.read(keyFile)
                let found = try database.read { connection in
                    try connection.rows("SELECT identity, isDefault, sealed FROM credential") { row in
                        Optional.some(key.flatMap { Self.credential(row, $0) })
                    }
                }
                let rows = found ?? []
                if !rows.isEmpty, key == nil { throw StoreFailure.noKey(path: keyFile.path) }
                let credentials = rows.compactMap { $0 }
                let unreadable = rows.count - credentials.count
                if unreadable > 0 { database.report(StoreFailure.wrongKey(unreadable), "credentials cannot be read") }
                return credentials
            } catch {
                database.report(error, "credentials cannot be read")
                throw error
            }
        }

        package func version() throws -> String? { try database.version(behind: writes) }

        private static func credential(_ row: SQLiteRow, _ key: StoreKey) -> StoredCredential? {
            guard let identity = row.value(0, Data.self), let isDefault = row.value(1, Bool.self),
                let sealed = row.value(2, Data.self), let bytes = key.cipher.open(sealed, context: identity)
            else { return nil }
            return StoredCredential(bytes, isDefault: isDefault)
        }

        // MARK: Writing

        package func save(_ changes: [CredentialChange]) { writes.add(changes) }

        package func flush(_ completion: @escaping @Sendable () -> Void) { writes.flush(completion) }

        private static func write(
            _ changes: [CredentialChange], to database: StoreDatabase, _ keyFile: URL
        ) throws {
            let isKept = changes.contains { if case .keep = $0 { true } else { false } }
            // Without a database there is nothing to remove.
            guard isKept || database.exists else { return }
            let key = isKept ? try StoreKey.readOrMake(keyFile) : try keyToFind(changes, keyFile)
            try database.write { connection in
                for change in changes { try apply(change, key, connection) }
            }
        }

        /// The key by which the credentials to remove are found; nil where none can be found. Throws where the key cannot be
        /// read now: the changes are tried again.
        private static func keyToFind(_ changes: [CredentialChange], _ keyFile: URL) throws -> StoreKey? {
            guard changes.contains(where: { if case .forget = $0 { true } else { false } }) else { return nil }
            do { return try StoreKey.read(keyFile) } catch StoreFailure.noKey { return nil }
        }

        private static func apply(
            _ change: CredentialChange, _ key: StoreKey?, _ connection: SQLiteConnection
        ) throws {
            switch change {
            case .forgetAll:
                try connection.run("DELETE FROM credential")
            case .forget(let user, let space):
                guard let key else { return }
                try connection.run(
                    "DELETE FROM credential WHERE identity = ?", [try identity(space, user, key)])
            case .keep(let stored):
                guard let key, let user = stored.credential.user, let bytes = stored.bytes else { return }
                let (space, identity) = (try identity(stored.space, nil, key), try identity(stored.space, user, key))
                guard let sealed = key.cipher.seal(bytes, context: identity) else { throw StoreFailure.encryption }
                if stored.isDefault {
                    try connection.run("UPDATE credential SET isDefault = FALSE WHERE space = ?", [space])
                }
                try connection.run(
                    "INSERT OR REPLACE INTO credential VALUES (?, ?, ?, ?)",
                    [identity, space, stored.isDefault, sealed])
            }
        }

        private static func identity(
            _ space: URLProtectionSpace, _ user: String?, _ key: StoreKey
        ) throws -> Data {
            var writer = ByteWriter()
            writer.put(space)
            writer.put(user) { $0.put($1) }
            return try key.identity(of: writer.data)
        }
    }
#endif
