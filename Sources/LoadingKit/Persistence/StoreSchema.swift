#if Persistence
    /// The tables of a store's database, in steps: a file has been through the first so many of them (`user_version`).
    struct StoreSchema: Sendable {
        /// Statements for each version, the first first. What is there is never changed, but followed by another step.
        let steps: [String]

        /// Brings a file to this version, at once for all processes that try. Gives whether the file is not newer.
        func apply(to connection: SQLiteConnection) throws -> Bool {
            try connection.transaction { connection in
                let version = try connection.first(Int.self, "PRAGMA user_version") ?? 0
                guard version <= steps.count else { return false }
                guard version >= 0, version < steps.count else { return true }
                for step in steps[version...] { try connection.execute(step) }
                try connection.execute("PRAGMA user_version = \(steps.count)")
                return true
            }
        }
    }
#endif
