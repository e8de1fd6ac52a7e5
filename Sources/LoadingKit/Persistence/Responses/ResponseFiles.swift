#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives
    import LoadingKitTransport

    /// A cache's folder on disk, and what of it is known without looking.
    ///
    /// A response is there once its row is: its content is written before the row, and removed after it. What a process
    /// leaves behind that was killed in between is removed by the next that has the folder to itself.
    final class ResponseFiles: Sendable {
        private struct State {
            var capacity = Int.max
            var known = KnownKeys()
            var used: [CacheKey: Date] = [:]
            var pending = PendingChanges()
            /// The folder could not be written to: nothing is kept until this time of ``DispatchTime``, in nanoseconds.
            var offUntil: UInt64?
            /// What is there is of before: what was removed or replaced since may be among it.
            var isOutdated = false

            /// Whether the folder is left alone. When its time has come it is tried again.
            var isOff: Bool { offUntil.map { $0 > DispatchTime.now().uptimeNanoseconds } ?? false }
            var lastLook = DispatchTime.now()
        }

        private static let mostPendingBytes = 64 << 20
        /// So many uses are noted at a time.
        private static let mostUsed = 256
        /// How long the folder is left alone when it cannot be written to, in nanoseconds: the disk may have room again.
        static let retryInterval: UInt64 = 60_000_000_000
        /// For so many nanoseconds other processes' responses may be passed over.
        private static let lookInterval: UInt64 = 1_000_000_000

        let database: StoreDatabase
        let bodies: BodyFolder
        private let folder: URL
        private let state = Guarded(State())
        private let lock = Guarded<FolderLock?>(nil)
        private let retryInterval: UInt64

        init(folder: URL, log: StoreLog, retryInterval: UInt64 = retryInterval) {
            self.folder = folder
            self.retryInterval = retryInterval
            bodies = BodyFolder(url: folder.appendingPathComponent("Contents", isDirectory: true))
            database = StoreDatabase(
                url: folder.appendingPathComponent("Responses.sqlite"), schema: ResponseIndex.schema,
                durability: .process, log: log)
        }

        // MARK: What is known; does not block

        /// Whether there may be responses under a key, and whether it is time to look what other processes have stored.
        func checkPresence(of key: CacheKey) -> (mayHave: Bool, shallLook: Bool) {
            state.withLock { state in
                if state.isOff { return (false, false) }
                if state.known.mayContain(key) { return (true, false) }
                let now = DispatchTime.now()
                let isTime = now.uptimeNanoseconds &- state.lastLook.uptimeNanoseconds > Self.lookInterval
                if isTime { state.lastLook = now }
                return (false, isTime)
            }
        }

        func isPending(_ key: CacheKey) -> Bool { state.withLock { $0.pending.contains(key) } }

        func hasRoom(for entry: CacheEntry) -> Bool {
            state.withLock { $0.pending.size + entry.response.data.count <= Self.mostPendingBytes }
        }

        func setCapacity(_ capacity: Int) { state.withLock { $0.capacity = capacity } }

        var capacity: Int { state.withLock { $0.capacity } }

        /// Gives whether it is time to write down what was used.
        func noteUse(of key: CacheKey) -> Bool {
            let now = Date()
            return state.withLock { state in
                guard !state.isOff else { return false }
                state.used[key] = now
                return state.used.count == Self.mostUsed
            }
        }

        func takeUsed() -> [CacheKey: Date] {
            state.withLock { state in
                defer { state.used = [:] }
                return state.used
            }
        }

        /// Gives whether the change is to be written.
        func expect(_ change: ResponseChange) -> Bool {
            state.withLock { state in
                guard !state.isOff else { return false }
                state.pending.insert(change)
                if case .store(_, let key) = change { state.known.insert(key) }
                return true
            }
        }

        /// Changes are written, after which nothing is under some keys.
        func settle(_ changes: [ResponseChange], gone: some Sequence<CacheKey>) {
            state.withLock { state in
                for change in changes { state.pending.remove(change) }
                for key in gone where !state.pending.contains(key) { state.known.remove(key) }
            }
        }

        var isOff: Bool { state.withLock { $0.isOff } }

        /// Nothing is kept for a while. What is there is forgotten before something is kept again.
        func switchOff(_ error: any Error) {
            let isFirst = state.withLock { state in
                defer { state.isOutdated = true }
                state.offUntil = DispatchTime.now().uptimeNanoseconds &+ retryInterval
                state.known = KnownKeys()
                state.used = [:]
                return !state.isOutdated
            }
            if isFirst { database.report(error, "responses are kept in memory alone until it can be written") }
        }

        // MARK: Opening; blocks

        /// Whether there is a database. Made where it is needed, and cleaned up when no other process uses it.
        func open(creating: Bool) throws -> Bool {
            try lock.withLock { lock in
                if lock != nil {
                    try renew()
                    return true
                }
                guard creating || database.exists else {
                    state.withLock { $0.known.insert([], upTo: 0) }
                    return false
                }
                try StoreFolder.make(folder)
                let opened = try FolderLock(folder.appendingPathComponent("Lock"))
                try renew()
                try learnKeys()
                if opened.isAlone {
                    try cleanUp()
                    opened.share()
                }
                lock = opened
                return true
            }
        }

        /// Under a key of the folder's own, which lies beside the database. Blocks.
        func keyedHash() -> KeyedHash? {
            guard !isOff else { return nil }
            do {
                let file = KeyFile(url: folder.appendingPathComponent("Responses.key"), size: KeyedHash.keySize)
                return KeyedHash(key: try file.readOrMake())
            } catch {
                database.report(error, "responses that were obtained with credentials are not found by later processes")
                return nil
            }
        }

        /// Begins anew where the folder could not be written to for a while.
        private func renew() throws {
            guard state.withLock({ $0.isOutdated }) else { return }
            bodies.remove(try database.write { try ResponseIndex.removeAll($0) }.map(\.body))
            try learnKeys()
            state.withLock { $0.isOutdated = false }
        }

        private func cleanUp() throws {
            let kept = try database.write { connection in
                try ResponseIndex.recount(connection)
                _ = try ResponseIndex.fit(capacity, connection)
                return try ResponseIndex.bodies(connection)
            }
            bodies.sweep(keeping: kept)
        }

        /// Learns of what other processes have stored.
        func look() {
            do {
                if try open(creating: false), !isOff { try learnKeys() }
            } catch {
                readingDidFail(error)
            }
        }

        private func learnKeys() throws {
            let last = state.withLock { $0.known.last }
            var found: Set<Int> = []
            let end = try database.read { connection in
                try ResponseIndex.keys(after: last, connection) { found.insert($0.hashValue) }
            }
            state.withLock { $0.known.insert(found, upTo: end ?? 0) }
        }

        /// Something could not be read: damage is nothing new, as the next use begins anew; another process that holds the
        /// file will not do so for ever.
        func readingDidFail(_ error: any Error) {
            if !StoreFailure.isDamage(error), !StoreFailure.isBusy(error) { switchOff(error) }
        }
    }
#endif
