#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitTransport

    /// Stores a cache's responses in a folder: an SQLite database of the responses, and a file for each content.
    ///
    /// Changes are written asynchronously, many in one transaction. If the folder cannot be written to, the store logs
    /// this once, and stores nothing for a minute. Then it tries again, and starts with an empty store if this
    /// succeeds.
    package final class ResponseDatabase: DiskResponseStore {
        let files: ResponseFiles
        private let writes: WriteBehind<ResponseChange>

        package init(
            folder: URL, log: StoreLog = StoreLog(), retryInterval: UInt64 = ResponseFiles.retryInterval
        ) {
            let files = ResponseFiles(folder: folder, log: log, retryInterval: retryInterval)
            self.files = files
            writes = WriteBehind {
                files.write($0)
                return []
            }
        }

        // MARK: Reading

        package func mayHave(_ key: CacheKey) -> Bool {
            let (may, shallLook) = files.checkPresence(of: key)
            if shallLook { BlockingPool.shared.run { [files] in files.look() } }
            return may
        }

        package func entries(for key: CacheKey) -> [CacheEntry] {
            if !files.isOff, files.isPending(key) { writes.drain() }
            let (entries, damaged) = files.entries(for: key)
            if !damaged.isEmpty { add(.discard(damaged)) }
            noteUse(of: key)
            return entries
        }

        package func noteUse(of key: CacheKey) { if files.noteUse(of: key) { add(.tidy) } }

        package func keyedHash() -> KeyedHash? { files.keyedHash() }

        package var usage: Int {
            writes.drain()
            return files.usage
        }

        // MARK: Writing

        package func store(_ entry: CacheEntry, for key: CacheKey) {
            // If the disk is too slow for the responses to store, further ones are not stored.
            add(files.hasRoom(for: entry) ? .store(entry, key) : .remove(key))
        }

        package func remove(_ key: CacheKey) { add(.remove(key)) }

        package func removeAll() { add(.removeAll) }

        package func removeAll(since date: Date) { add(.removeSince(date)) }

        package func setCapacity(_ capacity: Int) {
            files.setCapacity(capacity)
            add(.tidy)
        }

        package func flush(_ completion: @escaping @Sendable () -> Void) { writes.flush(completion) }

        private func add(_ change: ResponseChange) { if files.expect(change) { writes.add([change]) } }
    }
#endif
