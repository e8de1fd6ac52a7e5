#if Persistence
    import GRDB

    /// The tables of a store's database, in steps: a file has been through the first so many of them (`user_version`).
    struct StoreSchema: Sendable {
        /// Statements for each version, the first first. What is there is never changed, but followed by another step.
        let steps: [String]

        /// Brings a file to this version, at once for all processes that try. Gives whether the file is not newer.
        func apply(to writer: DatabaseQueue) throws -> Bool {
            try writer.write { database in
                let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                guard version <= steps.count else { return false }
                guard version >= 0, version < steps.count else { return true }
                for step in steps[version...] { try database.execute(sql: step) }
                try database.execute(sql: "PRAGMA user_version = \(steps.count)")
                return true
            }
        }
    }
#endif
