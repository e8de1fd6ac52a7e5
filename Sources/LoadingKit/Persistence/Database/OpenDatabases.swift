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
        private let databases = Guarded<[ObjectIdentifier: WeakDatabase]>([:])

        /// - Parameter limit: The number of databases.
        init(_ limit: Int) { self.limit = limit }

        /// A number that is larger than all before.
        func nextUse() -> Int { uses.wrappingAdd(1, ordering: .relaxed).newValue }

        /// A database was opened. Must be called without a lock that others need to use a database.
        func add(_ database: StoreDatabase) {
            // Only beyond the limit are others held here, as a database is closed with its last reference, and not with
            // the lock held.
            let all = databases.withLock { databases -> [StoreDatabase] in
                databases[ObjectIdentifier(database)] = WeakDatabase(database: database)
                return databases.count > limit ? databases.values.compactMap { $0.database } : []
            }
            let byUse = all.map { (use: $0.lastUse, database: $0) }.sorted { $0.use < $1.use }
            for (_, other) in byUse.prefix(max(0, all.count - limit)) where other !== database {
                remove(ObjectIdentifier(other))
                other.close()
            }
        }

        /// A database is closed.
        func remove(_ database: ObjectIdentifier) { databases.withLock { $0[database] = nil } }
    }
#endif
