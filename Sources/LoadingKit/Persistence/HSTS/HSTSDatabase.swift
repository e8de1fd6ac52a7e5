#if Persistence
    import Foundation
    import LoadingKitCore

    /// Stores the hosts of HSTS (RFC 6797) in an SQLite database.
    package final class HSTSDatabase: HSTSPersistence {
        private static let schema = StoreSchema(steps: [
            """
            CREATE TABLE policy (
                host TEXT PRIMARY KEY NOT NULL, ends REAL NOT NULL, includesSubdomains INTEGER NOT NULL
            ) WITHOUT ROWID
            """
        ])

        private let database: StoreDatabase
        /// The database whose hosts are imported once.
        private let former: StoreDatabase?
        private let writes: WriteBehind<HSTSChange>

        /// - Parameters:
        ///   - url: The file, which is created with the first host.
        ///   - former: Another file, whose hosts are imported once, when it first exists. It is not changed.
        ///   - now: The clock. Policies that have ended are deleted with the next change.
        package init(
            url: URL, former: URL? = nil, log: StoreLog = StoreLog(),
            now: @escaping @Sendable () -> Date = { Date() }
        ) {
            let database = StoreDatabase(url: url, schema: Self.schema, log: log)
            let former = former.map { StoreDatabase(url: $0, schema: Self.schema, log: log) }
            (self.database, self.former) = (database, former)
            writes = WriteBehind { changes in
                let isKept = changes.contains { if case .keep = $0 { true } else { false } }
                // Without a database there is nothing to remove.
                guard isKept || database.exists || former?.exists == true else { return [] }
                do {
                    try database.write { connection in
                        for change in changes { try Self.apply(change, connection) }
                        try connection.run(
                            "DELETE FROM policy WHERE ends <= ?", [now().timeIntervalSinceReferenceDate])
                    }
                    return []
                } catch {
                    database.report(error, "hosts that are to be reached by https are kept in memory alone")
                    return WriteBehind.kept(changes)
                }
            }
        }

        package func load() throws -> [String: HSTSPolicy] {
            guard let former, former.exists, !hasTakenOver else { return try Self.policies(in: database) }
            let found = (try? Self.policies(in: former)) ?? [:]
            guard !found.isEmpty else { return try Self.policies(in: database) }
            do {
                try database.write { try Self.takeOver(found, $0) }
                return try Self.policies(in: database)
            } catch {
                database.report(error, "hosts that are to be reached by https are kept in memory alone")
                let own = (try? Self.policies(in: database)) ?? [:]
                return own.merging(found) { own, _ in own }
            }
        }

        package func version() throws -> String? { try database.version(behind: writes) }

        private var hasTakenOver: Bool {
            let mark = try? database.read { try $0.first(Int.self, "PRAGMA application_id") }
            return mark ?? 0 == 1
        }

        /// Imports the hosts in one transaction, once for all processes. Hosts that were removed since are not
        /// restored.
        private static func takeOver(_ found: [String: HSTSPolicy], _ connection: SQLiteConnection) throws {
            guard try connection.first(Int.self, "PRAGMA application_id") == 0 else { return }
            try connection.execute("PRAGMA application_id = 1")
            for (host, policy) in found {
                try connection.run(
                    "INSERT OR IGNORE INTO policy VALUES (?, ?, ?)",
                    [host, policy.end.timeIntervalSinceReferenceDate, policy.includesSubdomains])
            }
        }

        private static func policies(in database: StoreDatabase) throws -> [String: HSTSPolicy] {
            do {
                let policies = try database.read {
                    try $0.rows("SELECT host, ends, includesSubdomains FROM policy", [], Self.policy)
                }
                return Dictionary(policies ?? []) { $1 }
            } catch {
                database.report(error, "hosts that are to be reached by https cannot be read")
                throw error
            }
        }

        private static func policy(_ row: SQLiteRow) -> (String, HSTSPolicy)? {
            guard let host = row.value(0, String.self), let end = row.value(1, Double.self),
                let includesSubdomains = row.value(2, Bool.self)
            else { return nil }
            let date = Date(timeIntervalSinceReferenceDate: end)
            return (host, HSTSPolicy(end: date, includesSubdomains: includesSubdomains))
        }

        package func save(_ change: HSTSChange) { writes.add([change]) }

        package func flush(_ completion: @escaping @Sendable () -> Void) { writes.flush(completion) }

        private static func apply(_ change: HSTSChange, _ connection: SQLiteConnection) throws {
            switch change {
            case .keep(let policy, let host):
                try connection.run(
                    "INSERT OR REPLACE INTO policy VALUES (?, ?, ?)",
                    [host, policy.end.timeIntervalSinceReferenceDate, policy.includesSubdomains])
            case .forget(let host):
                try connection.run("DELETE FROM policy WHERE host = ?", [host])
            case .forgetAll:
                try connection.run("DELETE FROM policy")
            }
        }
    }
#endif
