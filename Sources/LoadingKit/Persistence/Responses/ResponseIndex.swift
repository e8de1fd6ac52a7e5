#if Persistence
    import Foundation
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
            // For responses that were stored by earlier versions, the credentials of their requests are unknown, and
            // some rows contain credentials in clear text. No part of them may remain in the file.
            """
            PRAGMA secure_delete = ON;
            DELETE FROM response;
            """,
        ])

        /// The number of responses for one URL that are kept, the last stored first, as in memory.
        private static let maximumVariants = 16
        private static let hasKey = "url = ? AND method = ?"

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

            var cost: Int { size + head.count + key.url.utf8.count }
        }

        /// A response that a change has removed.
        struct Removed {
            let body: Int64
            let key: CacheKey
        }

        // MARK: Reading

        private static let storedResponses =
            "SELECT id, head, body, size, digest FROM response WHERE \(hasKey) ORDER BY id DESC LIMIT \(maximumVariants)"

        static func stored(_ key: CacheKey, _ connection: SQLiteConnection) throws -> [Stored] {
            try connection.rows(storedResponses, [key.url, key.method]) { row in
                guard let id = row.value(0, Int64.self), let head = row.value(1, Data.self),
                    let body = row.value(2, Int64.self), let size = row.value(3, Int.self),
                    let digest = row.value(4, Data.self)
                else { return nil }
                return Stored(id: id, head: head, body: body, size: size, digest: digest)
            }
        }

        static func usage(_ connection: SQLiteConnection) throws -> Int {
            max(0, try connection.first(Int.self, "SELECT bytes FROM usage") ?? 0)
        }

        static func count(_ connection: SQLiteConnection) throws -> Int {
            try connection.first(Int.self, "SELECT count(*) FROM response") ?? 0
        }

        /// Calls `body` with the keys of the responses stored after a row. Returns the last row's number.
        static func keys(
            after id: Int64, _ connection: SQLiteConnection, _ body: (CacheKey) -> Void
        ) throws -> Int64 {
            var last = id
            try connection.forEach("SELECT id, method, url FROM response WHERE id > ? ORDER BY id", [id]) { row in
                guard let id = row.value(0, Int64.self), let key = row.key(1) else { return }
                last = id
                body(key)
            }
            return last
        }

        static func bodies(_ connection: SQLiteConnection) throws -> Set<Int64> {
            Set(try connection.rows("SELECT body FROM response") { $0.value(0) })
        }

        static func bodies(of key: CacheKey, _ connection: SQLiteConnection) throws -> [Int64] {
            try connection.rows("SELECT body FROM response WHERE \(hasKey)", [key.url, key.method]) { $0.value(0) }
        }

        static func bodies(since date: Date, _ connection: SQLiteConnection) throws -> [Int64] {
            let seconds = date.timeIntervalSinceReferenceDate
            return try connection.rows("SELECT body FROM response WHERE stored >= ?", [seconds]) { $0.value(0) }
        }

        // MARK: Writing

        /// A response that replaces all others, such as one that a program stores, has no selecting fields.
        static func insert(_ new: New, at now: Date, _ connection: SQLiteConnection) throws -> [Removed] {
            var removed = try remove(
                "url = ? AND method = ? AND (?3 IS NULL OR selecting IS NULL OR selecting = ?3)",
                [new.key.url, new.key.method, new.selecting], connection)
            let date = new.date.timeIntervalSinceReferenceDate
            try connection.run(
                "INSERT INTO response (method, url, selecting, head, body, size, digest, cost, stored, used) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    new.key.method, new.key.url, new.selecting, new.head, new.body, new.size, new.digest, new.cost,
                    date, now.timeIntervalSinceReferenceDate,
                ])
            removed += try remove(
                "id IN (SELECT id FROM response WHERE \(hasKey) "
                    + "ORDER BY id DESC LIMIT -1 OFFSET \(maximumVariants))",
                [new.key.url, new.key.method], connection)
            return removed
        }

        static func remove(_ key: CacheKey, _ connection: SQLiteConnection) throws -> [Removed] {
            try remove(hasKey, [key.url, key.method], connection)
        }

        static func remove(ids: [Int64], _ connection: SQLiteConnection) throws -> [Removed] {
            try ids.flatMap { try remove("id = ?", [$0], connection) }
        }

        static func removeAll(_ connection: SQLiteConnection) throws -> [Removed] { try remove("TRUE", [], connection) }

        static func removeAll(since date: Date, _ connection: SQLiteConnection) throws -> [Removed] {
            try remove("stored >= ?", [date.timeIntervalSinceReferenceDate], connection)
        }

        private static func remove(
            _ condition: String, _ values: [(any SQLiteValue)?], _ connection: SQLiteConnection
        ) throws -> [Removed] {
            try connection.rows("DELETE FROM response WHERE \(condition) RETURNING body, method, url", values) { row in
                guard let body = row.value(0, Int64.self), let key = row.key(1) else { return nil }
                return Removed(body: body, key: key)
            }
        }

        /// Removes the responses that have not been used for the longest time, until the size is at most `capacity`.
        static func fit(_ capacity: Int, at now: Date, _ connection: SQLiteConnection) throws -> [Removed] {
            // If the clock was set back, earlier uses are in the future, and new responses would be removed first.
            let now = now.timeIntervalSinceReferenceDate
            try connection.run("UPDATE response SET used = ?1 WHERE used > ?1", [now])
            var excess = try usage(connection) - capacity
            var removed: [Removed] = []
            while excess > 0 {
                let oldest = try connection.rows(
                    "SELECT id, cost FROM response ORDER BY used, id LIMIT 64"
                ) { row in
                    row.value(0, Int64.self).map { (id: $0, cost: max(0, row.value(1, Int.self) ?? 0)) }
                }
                if oldest.isEmpty { break }
                for row in oldest where excess > 0 {
                    excess -= row.cost
                    removed += try remove(ids: [row.id], connection)
                }
            }
            return removed
        }

        static func setUsed(_ dates: [CacheKey: Date], _ connection: SQLiteConnection) throws {
            for (key, date) in dates {
                try connection.run(
                    "UPDATE response SET used = max(used, ?) WHERE \(hasKey)",
                    [date.timeIntervalSinceReferenceDate, key.url, key.method])
            }
        }

        static func recount(_ connection: SQLiteConnection) throws {
            try connection.run("UPDATE usage SET bytes = (SELECT coalesce(sum(cost), 0) FROM response)")
        }

        static func has(_ key: CacheKey, _ connection: SQLiteConnection) throws -> Bool {
            try connection.first(
                Int.self, "SELECT 1 FROM response WHERE \(hasKey) LIMIT 1", [key.url, key.method]) != nil
        }
    }

    extension SQLiteRow {
        fileprivate func key(_ index: Int) -> CacheKey? {
            guard let method = value(index, String.self), let url = value(index + 1, String.self) else { return nil }
            return CacheKey(method: method, text: url)
        }
    }
#endif
