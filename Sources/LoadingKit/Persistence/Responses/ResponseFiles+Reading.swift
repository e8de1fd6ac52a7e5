#if Persistence
    import Foundation
    import LoadingKitCore
    @_spi(LoadingKitPlugins) import LoadingKitTransport

    extension ResponseFiles {
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
