#if Persistence
    import LoadingKitPrimitives
    import Synchronization

    /// The bound of the databases that are open at a time, each with up to five descriptors: those that were used least
    /// recently are closed, until their next use.
    final class OpenDatabases: Sendable {
        static let ofProcess = OpenDatabases(32)

        private struct WeakDatabase {
            weak var database: StoreDatabase?
        }

        private let limit: Int
        private let uses = Atomic<Int>(0)
        private let databases = Guarded<[WeakDatabase]>([])

        /// - Parameter limit: The number of databases.
        init(_ limit: Int) { self.limit = limit }

        /// A number that is larger than all before.
        func nextUse() -> Int { uses.wrappingAdd(1, ordering: .relaxed).newValue }

        /// A database was opened. Must be called without a lock that others need to use a database.
        func add(_ database: StoreDatabase) {
            // All references are released without the lock: a database may be closed with its last one.
            let (excess, _) = databases.withLock { databases -> ([StoreDatabase], [StoreDatabase]) in
                let others = databases.compactMap { $0.database }.filter { $0 !== database }
                let byUse = others.map { (use: $0.lastUse, database: $0) }.sorted { $0.use < $1.use }
                let all = byUse.map(\.database) + [database]
                databases = all.suffix(limit).map { WeakDatabase(database: $0) }
                return (Array(all.dropLast(limit)), all)
            }
            for database in excess { database.close() }
        }
    }
#endif
