#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitTransport

    /// Stores cookies in an SQLite database. A damaged file counts as an empty one.
    package final class CookieDatabase: CookiePersistence {
        private let database: StoreDatabase

        package var identity: String? { database.url.absoluteString }

        /// - Parameter url: The file, which is created with the first cookie.
        package init(url: URL, log: StoreLog = StoreLog()) {
            database = StoreDatabase(url: url, schema: Self.schema, log: log)
        }

        // Dates are stored in seconds since 2001, Foundation's own unit, so that they are restored exactly.
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

        package func version() throws -> String? { try database.version() }

        package func write(_ edits: [CookieEdit], completion: @escaping @Sendable ((any Error)?) -> Void) {
            BlockingPool.shared.run { [database] in
                let isSaved = edits.contains { if case .save = $0 { true } else { false } }
                // Without a database there is nothing to delete.
                guard isSaved || database.exists else { return completion(nil) }
                do {
                    try database.write { try Self.apply(edits, to: $0) }
                    completion(nil)
                } catch {
                    database.report(error, "cookies are kept in memory alone until it can be written")
                    completion(error)
                }
            }
        }

        private static func apply(_ edits: [CookieEdit], to connection: SQLiteConnection) throws {
            for edit in edits { try apply(edit, to: connection) }
            // A process removes cookies that expire from its memory alone.
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
            case .deleteAll(let since, let until):
                try connection.run(
                    "DELETE FROM cookie WHERE stored >= ? AND stored <= ?",
                    [since.timeIntervalSinceReferenceDate, until.timeIntervalSinceReferenceDate])
            }
        }

        private static func save(_ record: CookieRecord, to connection: SQLiteConnection) throws {
            guard let values = record.columnValues else { return }
            try connection.run(
                "INSERT OR REPLACE INTO cookie (\(CookieRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values)
        }
    }

    extension CookieRecord {
        /// The table's columns, in the order in which rows are read and written.
        static let columns =
            "domain, isHostOnly, path, name, value, expires, creation, stored, isSecure, isHTTPOnly, sameSite, legacy"

        /// The cookie in a row of the table. Nil if a column contains a value of another type, or text that must not be
        /// sent, as may happen in a file that other programs have written.
        init?(_ row: SQLiteRow) {
            func date(_ column: Int) -> Date? {
                row.value(column, Double.self).map { Date(timeIntervalSinceReferenceDate: $0) }
            }
            guard let domain = row.value(0, String.self), let isHostOnly = row.value(1, Bool.self),
                let path = row.value(2, String.self), let name = row.value(3, String.self),
                let value = row.value(4, String.self), let expires = date(5), let creation = date(6),
                let stored = date(7), let isSecure = row.value(8, Bool.self), let isHTTPOnly = row.value(9, Bool.self),
                let sameSite = row.value(10, String.self).flatMap({ SameSite(rawValue: $0) }),
                name.isCookieName, value.isCookieText
            else { return nil }
            self.init(
                identity: Identity(name: name, domain: domain, isHostOnly: isHostOnly, path: path), value: value,
                creation: creation)
            self.expires = expires
            self.stored = stored
            self.isSecure = isSecure
            self.isHTTPOnly = isHTTPOnly
            self.sameSite = sameSite
            legacy = row.value(11, Data.self).flatMap { try? JSONDecoder().decode(Legacy.self, from: $0) }
        }

        /// The values of these columns; nil for a session cookie.
        var columnValues: [(any SQLiteValue)?]? {
            guard let expires else { return nil }
            return [
                identity.domain, identity.isHostOnly, identity.path, identity.name, value,
                expires.timeIntervalSinceReferenceDate, creation.timeIntervalSinceReferenceDate,
                stored.timeIntervalSinceReferenceDate, isSecure, isHTTPOnly, sameSite.rawValue,
                legacy.flatMap { try? JSONEncoder().encode($0) },
            ]
        }
    }
#endif
