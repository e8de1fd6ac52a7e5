#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives
    @_spi(LoadingKitPlugins) import LoadingKitTransport

    /// A cache's folder on disk, and the information about it that is available without reading the disk.
    ///
    /// A response exists while its row exists: its content is written before the row, and removed after it. Contents
    /// that a process left because it was killed in between are removed by the next process that is the only user of
    /// the folder.
    final class ResponseFiles: Sendable {
        private struct State {
            var capacity = Int.max
            var known = KnownKeys()
            var used: [CacheKey: Date] = [:]
            var pending = PendingChanges()
            /// The time (``DispatchTime``, in nanoseconds) until which a folder that could not be written to is not used.
            var offUntil: UInt64?
            /// Whether the stored responses may include some that were removed or replaced since.
            var isOutdated = false

            /// Whether the folder is not used for now. It is tried again when the time has passed.
            var isOff: Bool { offUntil.map { $0 > DispatchTime.now().uptimeNanoseconds } ?? false }
            var lastLook = DispatchTime.now()
        }

        private static let mostPendingBytes = 64 << 20
        /// The number of uses that are recorded at a time.
        private static let mostUsed = 256
        /// The time, in nanoseconds, for which a folder that could not be written to is not used.
        static let retryInterval: UInt64 = 60_000_000_000
        /// The time for which other processes' responses may be missed, in nanoseconds.
        private static let lookInterval: UInt64 = 1_000_000_000
        /// The number of known keys without rows that are not worth a look at all rows, however few there are.
        private static let mostOutdatedKeys = 256

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

        // MARK: In-memory information; does not block

        /// Whether there may be responses under a key, and whether to look for those of other processes.
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
            state.withLock { $0.pending.size + entry.response.parts.data.count <= Self.mostPendingBytes }
        }

        func setCapacity(_ capacity: Int) { state.withLock { $0.capacity = capacity } }

        var capacity: Int { state.withLock { $0.capacity } }

        /// Returns whether it is time to write the recorded uses.
        func noteUse(of key: CacheKey) -> Bool {
            let now = Date()
            return state.withLock { state in
                guard !state.isOff else { return false }
                state.used[key] = now
                return state.used.count == Self.mostUsed
            }
        }

        func takeUsed() -> [CacheKey: Date] { state.withLock { exchange(&$0.used, for: [:]) } }

        /// Returns whether the change must be written. While the folder is not used, what is removed or replaced must
        /// still not be found by a later process.
        func expect(_ change: ResponseChange) -> Bool {
            state.withLock { state in
                let isOff = state.isOff
                guard !isOff || change.key != nil || change.concernsAll else { return false }
                state.pending.insert(change)
                if !isOff, case .store(_, let key) = change { state.known.insert(key) }
                return true
            }
        }

        /// Changes were written. Afterwards there are no responses under the keys in `gone`.
        func settle(_ changes: [ResponseChange], gone: some Sequence<CacheKey>) {
            state.withLock { state in
                for change in changes { state.pending.remove(change) }
                for key in gone where !state.pending.contains(key) { state.known.remove(key) }
            }
        }

        var isOff: Bool { state.withLock { $0.isOff } }

        /// No responses are stored for a while. The stored responses are removed before the next one is stored.
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

        /// Whether there is a database. It is created if necessary, and cleaned up if no other process uses it.
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

        /// A hash with the folder's own key, which is in a file beside the database. Blocks.
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

        /// Removes all responses if the folder could not be written to for a while.
        private func renew() throws {
            guard state.withLock({ $0.isOutdated }) else { return }
            bodies.remove(try database.write { try ResponseIndex.removeAll($0) }.map(\.body))
            try learnKeys()
            state.withLock { $0.isOutdated = false }
        }

        private func cleanUp() throws {
            let kept = try database.write { connection in
                try ResponseIndex.recount(connection)
                _ = try ResponseIndex.fit(capacity, at: Date(), connection)
                return try ResponseIndex.bodies(connection)
            }
            bodies.sweep(keeping: kept)
        }

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
            let read = try database.read { connection in
                let end = try ResponseIndex.keys(after: last, connection) { found.insert($0.hashValue) }
                return (end: end, rows: try ResponseIndex.count(connection))
            }
            let count = state.withLock { state in
                state.known.insert(found, upTo: read?.end ?? 0)
                return state.known.count
            }
            // Other processes remove rows without telling this one.
            if count > 2 * (read?.rows ?? 0) + Self.mostOutdatedKeys { try learnAllKeys() }
        }

        /// Replaces the known keys by those of the rows that there are now.
        private func learnAllKeys() throws {
            let isFirst = state.withLock { state in
                let pending = state.pending.keysOfChanges
                return state.known.beginReplacement(keeping: pending)
            }
            guard isFirst else { return }
            var found: Set<Int> = []
            do {
                let end = try database.read { connection in
                    try ResponseIndex.keys(after: 0, connection) { found.insert($0.hashValue) }
                }
                state.withLock { $0.known.replace(by: found, upTo: end ?? 0) }
            } catch {
                state.withLock { $0.known.cancelReplacement() }
                throw error
            }
        }

        /// Damage needs no action, as the next use creates a new database. A lock by another process is temporary, and
        /// so may be the failure of a disk.
        func readingDidFail(_ error: any Error) {
            if !StoreFailure.isDamage(error), !StoreFailure.isTemporary(error) { switchOff(error) }
        }

        // MARK: Reading

        /// The responses under a key, and the rows that are damaged or have damaged contents. Blocks.
        func entries(for key: CacheKey) -> (entries: [CacheEntry], damaged: [Int64]) {
            var entries: [CacheEntry] = []
            var damaged: [Int64] = []
            do {
                guard !isOff, try open(creating: false) else { return ([], []) }
                for stored in try database.read({ try ResponseIndex.stored(key, $0) }) ?? [] {
                    if let entry = entry(stored, key) { entries.append(entry) } else { damaged.append(stored.id) }
                }
            } catch {
                readingDidFail(error)
                return ([], [])
            }
            return (entries, damaged)
        }

        /// Nil if a file is missing, which another process may have removed, or if the stored bytes have changed.
        private func entry(_ stored: ResponseIndex.Stored, _ key: CacheKey) -> CacheEntry? {
            guard let data = bodies.read(stored.body, count: stored.size),
                Self.digest(of: stored.head, data, under: key) == stored.digest
            else { return nil }
            return CacheEntry(head: stored.head, data: data, under: key)
        }

        /// A digest that shows whether a response is the one stored under this key.
        static func digest(of head: Data, _ content: Data, under key: CacheKey) -> Data? {
            var hash = SHA256()
            hash.update("\(key.method) \(key.url) \(head.count)\n")
            hash.update(head)
            hash.update(content)
            return hash.digest()
        }

        /// The size of all responses, in bytes. Blocks.
        var usage: Int {
            do {
                guard !isOff, try open(creating: false) else { return 0 }
                return try database.read(ResponseIndex.usage) ?? 0
            } catch {
                readingDidFail(error)
                return 0
            }
        }
    }
#endif
