#if Persistence
    import Foundation
    import GRDB
    import LoadingKitCore

    /// The table of a cache's responses.
    enum ResponseIndex {
        static let schema = StoreSchema(steps: [
            """
            CREATE TABLE response (
                id INTEGER PRIMARY KEY AUTOINCREMENT, method TEXT NOT NULL, url TEXT NOT NULL, selecting BLOB,
                head BLOB NOT NULL, body INTEGER NOT NULL, size INTEGER NOT NULL, digest BLOB NOT NULL,
                cost INTEGER NOT NULL, stored REAL NOT NULL, used REAL NOT NULL
            );
            CREATE INDEX responseByKey ON response (url, method);
            CREATE INDEX responseByUse ON response (used, id);
            CREATE TABLE usage (bytes INTEGER NOT NULL);
            INSERT INTO usage VALUES (0);
            CREATE TRIGGER responseAdded AFTER INSERT ON response
                BEGIN UPDATE usage SET bytes = bytes + NEW.cost; END;
            CREATE TRIGGER responseRemoved AFTER DELETE ON response
                BEGIN UPDATE usage SET bytes = bytes - OLD.cost; END;
            """,
            // Of what was stored before it is not known with whose credentials it was obtained, and some rows have these in
            // clear: nothing of them is to be left in the file.
            """
            PRAGMA secure_delete = ON;
            DELETE FROM response;
            """,
        ])

        /// How many responses of one URL are kept, the last stored first, as memory has it.
        private static let maximumVariants = 16

        struct Stored {
            let id: Int64
            let head: Data
            let body: Int64
            let size: Int
            let digest: Data
        }

        struct New {
            let key: CacheKey
            let selecting: Data?
            let head: Data
            let body: Int64
            let size: Int
            let digest: Data
            let date: Date

            /// The bytes that it takes.
            var cost: Int { size + head.count + key.url.utf8.count }
        }

        /// What a change has removed.
        struct Removed {
            let body: Int64
            let key: CacheKey
        }

        // MARK: Reading

        static func stored(_ key: CacheKey, _ database: Database) throws -> [Stored] {
            let statement = try database.cachedStatement(
                sql: "SELECT id, head, body, size, digest FROM response WHERE url = ? AND method = ? "
                    + "ORDER BY id DESC LIMIT \(maximumVariants)")
            return try Row.fetchAll(statement, arguments: [key.url, key.method]).compactMap { row in
                guard let id = row.value(0, Int64.self), let head = row.value(1, Data.self),
                    let body = row.value(2, Int64.self), let size = row.value(3, Int.self),
                    let digest = row.value(4, Data.self)
                else { return nil }
                return Stored(id: id, head: head, body: body, size: size, digest: digest)
            }
        }

        static func usage(_ database: Database) throws -> Int {
            max(0, try Int.fetchOne(database.cachedStatement(sql: "SELECT bytes FROM usage")) ?? 0)
        }

        /// Calls `body` with the keys of what was stored after a row; gives the last row's number.
        static func keys(
            after id: Int64, _ database: Database, _ body: (CacheKey) -> Void
        ) throws -> Int64 {
            var last = id
            let rows = try Row.fetchCursor(
                database, sql: "SELECT id, method, url FROM response WHERE id > ? ORDER BY id", arguments: [id])
            while let row = try rows.next() {
                guard let id = row.value(0, Int64.self), let key = row.key(1) else { continue }
                last = id
                body(key)
            }
            return last
        }

        static func bodies(_ database: Database) throws -> Set<Int64> {
            try Int64.fetchSet(database, sql: "SELECT body FROM response")
        }

        static func bodies(of key: CacheKey, _ database: Database) throws -> [Int64] {
            try Int64.fetchAll(
                database, sql: "SELECT body FROM response WHERE url = ? AND method = ?",
                arguments: [key.url, key.method]
            )
        }

        static func bodies(since date: Date, _ database: Database) throws -> [Int64] {
            try Int64.fetchAll(
                database, sql: "SELECT body FROM response WHERE stored >= ?",
                arguments: [date.timeIntervalSinceReferenceDate])
        }

        // MARK: Writing

        /// What takes the place of all, as what a program stores does, has no selecting fields.
        static func insert(_ new: New, _ database: Database) throws -> [Removed] {
            var removed = try remove(
                "url = ? AND method = ? AND (?3 IS NULL OR selecting IS NULL OR selecting = ?3)",
                [new.key.url, new.key.method, new.selecting], database)
            let date = new.date.timeIntervalSinceReferenceDate
            try database.cachedStatement(
                sql: "INSERT INTO response (method, url, selecting, head, body, size, digest, cost, stored, used) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            ).execute(arguments: [
                new.key.method, new.key.url, new.selecting, new.head, new.body, new.size, new.digest, new.cost, date,
                Date().timeIntervalSinceReferenceDate,
            ])
            removed += try remove(
                "id IN (SELECT id FROM response WHERE url = ? AND method = ? "
                    + "ORDER BY id DESC LIMIT -1 OFFSET \(maximumVariants))",
                [new.key.url, new.key.method], database)
            return removed
        }

        static func remove(_ key: CacheKey, _ database: Database) throws -> [Removed] {
            try remove("url = ? AND method = ?", [key.url, key.method], database)
        }

        static func remove(ids: [Int64], _ database: Database) throws -> [Removed] {
            try ids.flatMap { try remove("id = ?", [$0], database) }
        }

        static func removeAll(_ database: Database) throws -> [Removed] { try remove("TRUE", [], database) }

        static func removeAll(since date: Date, _ database: Database) throws -> [Removed] {
            try remove("stored >= ?", [date.timeIntervalSinceReferenceDate], database)
        }

        private static func remove(
            _ condition: String, _ arguments: StatementArguments, _ database: Database
        ) throws -> [Removed] {
            let statement = try database.cachedStatement(
                sql: "DELETE FROM response WHERE \(condition) RETURNING body, method, url")
            return try Row.fetchAll(statement, arguments: arguments).compactMap(removed)
        }

        private static func removed(_ row: Row) -> Removed? {
            guard let body = row.value(0, Int64.self), let key = row.key(1) else { return nil }
            return Removed(body: body, key: key)
        }

        /// Removes what was not used for longest, until no more bytes are taken than that.
        static func fit(_ capacity: Int, _ database: Database) throws -> [Removed] {
            var excess = try usage(database) - capacity
            var removed: [Removed] = []
            while excess > 0 {
                let oldest = try Row.fetchAll(
                    database, sql: "SELECT id, cost FROM response ORDER BY used, id LIMIT 64")
                if oldest.isEmpty { break }
                for row in oldest where excess > 0 {
                    guard let id = row.value(0, Int64.self) else { continue }
                    excess -= max(0, row.value(1, Int.self) ?? 0)
                    removed += try remove(ids: [id], database)
                }
            }
            return removed
        }

        static func setUsed(_ dates: [CacheKey: Date], _ database: Database) throws {
            let statement = try database.cachedStatement(
                sql: "UPDATE response SET used = max(used, ?) WHERE url = ? AND method = ?")
            for (key, date) in dates {
                try statement.execute(arguments: [date.timeIntervalSinceReferenceDate, key.url, key.method])
            }
        }

        /// Counts anew what is taken.
        static func recount(_ database: Database) throws {
            try database.execute(sql: "UPDATE usage SET bytes = (SELECT coalesce(sum(cost), 0) FROM response)")
        }

        static func has(_ key: CacheKey, _ database: Database) throws -> Bool {
            let statement = try database.cachedStatement(
                sql: "SELECT 1 FROM response WHERE url = ? AND method = ? LIMIT 1")
            return try Int.fetchOne(statement, arguments: [key.url, key.method]) != nil
        }
    }

    extension Row {
        /// A column's value; nil when the file has something else there.
        func value<Value: DatabaseValueConvertible>(_ index: Int, _ type: Value.Type) -> Value? {
            let value: DatabaseValue = self[index]
            return Value.fromDatabaseValue(value)
        }

        fileprivate func key(_ index: Int) -> CacheKey? {
            guard let method = value(index, String.self), let url = value(index + 1, String.self) else { return nil }
            return CacheKey(method: method, text: url)
        }
    }
#endif
