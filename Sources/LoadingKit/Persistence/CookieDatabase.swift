#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitTransport

    /// Keeps cookies in an SQLite database. A file that is damaged counts as an empty one.
    package final class CookieDatabase: CookiePersistence {
        private let database: StoreDatabase

        package var identity: String? { database.url.absoluteString }

        /// - Parameter url: The file; it is made with the first cookie.
        package init(url: URL, log: StoreLog = StoreLog()) {
            database = StoreDatabase(url: url, schema: Self.schema, log: log)
        }

        // Dates are seconds since 2001, in which Foundation counts: they come back as they were.
        private static let schema = StoreSchema(steps: [
            """
            CREATE TABLE IF NOT EXISTS cookie (
                domain TEXT NOT NULL, isHostOnly INTEGER NOT NULL, path TEXT NOT NULL, name TEXT NOT NULL,
                value TEXT NOT NULL, expires REAL NOT NULL, creation REAL NOT NULL, stored REAL NOT NULL,
                isSecure INTEGER NOT NULL, isHTTPOnly INTEGER NOT NULL, sameSite TEXT NOT NULL, legacy BLOB,
                PRIMARY KEY (domain, isHostOnly, path, name)
            ) WITHOUT ROWID
            """
        ])

        package func load() throws -> [CookieRecord] {
            do {
                return try database.read {
                    try $0.rows("SELECT \(CookieRecord.columns) FROM cookie") { CookieRecord($0) }
                } ?? []
            } catch let error where StoreFailure.isDamage(error) {
                return []
            } catch {
                database.report(error, "its cookies cannot be read")
                throw error
            }
        }

        package func write(_ batch: CookieBatch, completion: @escaping @Sendable ((any Error)?) -> Void) {
            BlockingPool.shared.run { [database] in
                do {
                    try database.write { try Self.apply(batch, to: $0) }
                    completion(nil)
                } catch {
                    database.report(error, "cookies are kept in memory alone until it can be written")
                    completion(error)
                }
            }
        }

        private static func apply(_ batch: CookieBatch, to connection: SQLiteConnection) throws {
            switch batch {
            case .edits(let edits):
                for edit in edits { try apply(edit, to: connection) }
            case .everything(let records):
                try connection.run("DELETE FROM cookie")
                for record in records { try save(record, to: connection) }
            }
            // What has ended while the program did not run, and was not read for that.
            try connection.run("DELETE FROM cookie WHERE expires <= ?", [Date().timeIntervalSinceReferenceDate])
        }

        private static func apply(_ edit: CookieEdit, to connection: SQLiteConnection) throws {
            switch edit {
            case .save(let record):
                try save(record, to: connection)
            case .delete(let identity):
                try connection.run(
                    "DELETE FROM cookie WHERE domain = ? AND isHostOnly = ? AND path = ? AND name = ?",
                    [identity.domain, identity.isHostOnly, identity.path, identity.name])
            }
        }

        private static func save(_ record: CookieRecord, to connection: SQLiteConnection) throws {
            guard let values = record.columnValues else { return }
            try connection.run(
                "INSERT OR REPLACE INTO cookie (\(CookieRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values)
        }
    }
#endif
