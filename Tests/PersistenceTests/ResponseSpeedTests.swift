#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives
    import LoadingKitTransport
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    /// What it costs to find a response on disk.
    @Suite("ResponseDatabase: cost", .serialized)
    struct ResponseSpeedTests {
        private static let measured = 1000

        @Test("a lookup among 100,000 costs no more than twice that among 1,000")
        func lookup() async throws {
            let (small, large) = (try CacheFolder(), try CacheFolder())
            let stores = [try await Self.filled(small, 0), try await Self.filled(large, 99_000)]
            let folders = [small, large]
            var generator = SeededGenerator(seed: 5)
            var best = [Double.infinity, .infinity]
            // The best of several rounds, as many as it needs: others use the processor, too.
            for _ in 0..<100 where best[0] == .infinity || best[1] > 2 * best[0] {
                let keys = (0..<200).map { _ in Int.random(in: 0..<Self.measured, using: &generator) }
                for side in 0..<2 {
                    var found = 0
                    let time = ThreadTime.of {
                        for key in keys { found += stores[side].entries(for: folders[side].key(key)).count }
                    }
                    #expect(found == keys.count)
                    best[side] = min(best[side], time / Double(keys.count))
                }
            }
            print(
                "a response of 1 KB from disk: \(Int(best[0])) µs of 1,000, \(Int(best[1])) µs of 100,000 responses")
            #expect(best[1] <= 2 * best[0])
        }

        @Test("what is nowhere, and what memory has, does not touch the disk")
        func memory() async throws {
            let folder = try CacheFolder()
            let store = CountingStore(try await Self.filled(folder, 0))
            let cache = URLCache(memoryCapacity: 10 << 20, diskCapacity: 100 << 20, disk: store)
            await cache.flush()
            let (present, absent) = (folder.key(1), folder.key(Self.measured))
            #expect(cache.entriesInMemory(for: present) == nil && store.readingCount == 0)
            for _ in 0..<3 { #expect(cache.entries(for: present).count == 1) }
            #expect(cache.entriesInMemory(for: present)?.count == 1)
            #expect(cache.entriesInMemory(for: absent)?.isEmpty == true)
            #expect(store.readingCount == 1)
        }

        /// Counts how often the disk is read.
        private final class CountingStore: DiskResponseStore {
            private let readings = Guarded(0)
            private let store: ResponseDatabase

            var readingCount: Int { readings.withLock { $0 } }

            init(_ store: ResponseDatabase) { self.store = store }

            func entries(for key: CacheKey) -> [CacheEntry] {
                readings.withLock { $0 += 1 }
                return store.entries(for: key)
            }

            var usage: Int { store.usage }
            func mayHave(_ key: CacheKey) -> Bool { store.mayHave(key) }
            func noteUse(of key: CacheKey) { store.noteUse(of: key) }
            func keyedHash() -> KeyedHash? { store.keyedHash() }
            func store(_ entry: CacheEntry, for key: CacheKey) { store.store(entry, for: key) }
            func remove(_ key: CacheKey) { store.remove(key) }
            func removeAll() { store.removeAll() }
            func removeAll(since date: Date) { store.removeAll(since: date) }
            func setCapacity(_ capacity: Int) { store.setCapacity(capacity) }
            func flush(_ completion: @escaping @Sendable () -> Void) { store.flush(completion) }
        }

        /// So many responses of 1 KB, and as many more rows as are wanted.
        private static func filled(_ folder: CacheFolder, _ others: Int) async throws -> ResponseDatabase {
            let store = folder.store()
            for index in 0..<measured { store.store(entry(folder.key(index)), for: folder.key(index)) }
            await folder.flush(store)
            try store.files.database.write { connection in
                try connection.run(
                    """
                    WITH RECURSIVE number (n) AS (SELECT \(measured) UNION ALL SELECT n + 1 FROM number LIMIT ?)
                    INSERT INTO response (method, url, selecting, head, body, size, digest, cost, stored, used)
                    SELECT method, 'http://h.example/path/' || (n * 7), selecting, head, 0, 0, digest, cost, stored, used
                    FROM number, (SELECT * FROM response LIMIT 1)
                    """, [others])
            }
            return store
        }

        private static func entry(_ key: CacheKey) -> CacheEntry {
            var fields = HTTPFields()
            for (name, value) in [
                ("Content-Type", "text/html; charset=utf-8"), ("Content-Length", "1024"),
                ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ("Cache-Control", "max-age=3600"), ("ETag", "\"abcdef\""), ("Server", "nginx"),
                ("Vary", "Accept-Encoding"),
            ] {
                fields.append(name: name, value: value)
            }
            let response = HTTPURLResponse(
                url: URL(string: key.url) ?? URL(fileURLWithPath: "/"), statusCode: 200, httpVersion: "HTTP/1.1",
                fields: fields, expectedContentLength: 1024)
            let metadata = CacheMetadata(
                requestTime: Date(), responseTime: Date(),
                varyKey: [.init(name: "accept-encoding", value: "gzip, deflate")])
            return CacheEntry(
                response: CachedURLResponse(
                    response: response, data: Data(count: 1024), userInfo: nil, storagePolicy: .allowed,
                    metadata: metadata), date: Date())
        }
    }
#endif
