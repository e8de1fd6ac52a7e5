#if Persistence
    import Foundation
    import GRDB
    import LoadingKitCore

    /// Keeps the hosts of strict transport security in an SQLite database.
    package final class StrictTransportDatabase: StrictTransportPersistence {
        private static let schema = StoreSchema(steps: [
            """
            CREATE TABLE policy (
                host TEXT PRIMARY KEY NOT NULL, ends REAL NOT NULL, includesSubdomains INTEGER NOT NULL
            ) WITHOUT ROWID
            """
        ])

        private let database: StoreDatabase
        private let writes: WriteBehind<StrictTransportChange>

        package init(url: URL, log: StoreLog = StoreLog()) {
            let database = StoreDatabase(url: url, schema: Self.schema, log: log)
            self.database = database
            writes = WriteBehind { changes in
                do {
                    try database.write { database in
                        for change in changes { try Self.apply(change, database) }
                    }
                    return []
                } catch {
                    database.report(error, "hosts that are to be reached by https are kept in memory alone")
                    return WriteBehind.kept(changes)
                }
            }
        }

        package func load() -> [String: StrictTransportPolicy] {
            do {
                return try database.read { database in
                    let rows = try Row.fetchAll(database, sql: "SELECT host, ends, includesSubdomains FROM policy")
                    return Dictionary(rows.compactMap(Self.policy)) { $1 }
                } ?? [:]
            } catch {
                database.report(error, "hosts that are to be reached by https cannot be read")
                return [:]
            }
        }

        private static func policy(_ row: Row) -> (String, StrictTransportPolicy)? {
            guard let host = row.value(0, String.self), let end = row.value(1, Double.self),
                let includesSubdomains = row.value(2, Bool.self)
            else { return nil }
            let date = Date(timeIntervalSinceReferenceDate: end)
            return (host, StrictTransportPolicy(end: date, includesSubdomains: includesSubdomains))
        }

        package func save(_ change: StrictTransportChange) { writes.add([change]) }

        package func flush(_ completion: @escaping @Sendable () -> Void) { writes.flush(completion) }

        private static func apply(_ change: StrictTransportChange, _ database: Database) throws {
            switch change {
            case .keep(let policy, let host):
                try database.cachedStatement(sql: "INSERT OR REPLACE INTO policy VALUES (?, ?, ?)")
                    .execute(arguments: [host, policy.end.timeIntervalSinceReferenceDate, policy.includesSubdomains])
            case .forget(let host):
                try database.cachedStatement(sql: "DELETE FROM policy WHERE host = ?").execute(arguments: [host])
            case .forgetAll:
                try database.execute(sql: "DELETE FROM policy")
            }
        }
    }
#endif
