import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Testing

@testable import LoadingKitCore

/// What a cache keeps for sessions: variants of one URL, parts, and what goes to disk.
@Suite struct URLCacheStorageTests {
    /// A disk without a disk.
    private final class FakeDisk: DiskResponseStore {
        private let entries = Guarded<[CacheKey: [CacheEntry]]>([:])
        let capacity = Guarded(0)
        /// Called before a change.
        let willChange = Guarded<@Sendable () -> Void>({})

        func entries(for key: CacheKey) -> [CacheEntry] { entries.withLock { $0[key] ?? [] } }
        var usage: Int { entries.withLock { $0.values.joined().reduce(0) { $0 + $1.cost } } }
        func keyedHash() -> KeyedHash? { nil }
        func store(_ entry: CacheEntry, for key: CacheKey) {
            announce()
            entries.withLock { $0[key] = [entry] + ($0[key] ?? []).filter { !entry.replaces($0) } }
        }
        func remove(_ key: CacheKey) {
            announce()
            entries.withLock { $0[key] = nil }
        }
        func removeAll() {
            announce()
            entries.withLock { $0 = [:] }
        }
        func removeAll(since date: Date) {
            announce()
            entries.withLock { $0 = $0.mapValues { $0.filter { $0.date < date } } }
        }
        func mayHave(_ key: CacheKey) -> Bool { entries.withLock { $0[key]?.isEmpty == false } }
        func noteUse(of key: CacheKey) {}
        func flush(_ completion: @escaping @Sendable () -> Void) { completion() }
        func setCapacity(_ capacity: Int) { self.capacity.withLock { $0 = capacity } }

        private func announce() {
            let body = willChange.withLock { $0 }
            body()
        }
    }

    private let request = URLRequest(url: URL(string: "http://h/a") ?? URL(fileURLWithPath: "/"))
    private var key: CacheKey { CacheKey(method: "GET", url: request.url ?? URL(fileURLWithPath: "/")) }

    /// A response chosen by the field `a`.
    private func variant(
        _ value: String?, bytes: Int = 1, policy: URLCache.StoragePolicy = .allowed, part: CacheMetadata.Part? = nil
    ) -> CachedURLResponse {
        let metadata = CacheMetadata(
            requestTime: .distantPast, responseTime: .distantPast,
            varyKey: [CacheMetadata.VaryField(name: "a", value: value)], part: part)
        return CachedURLResponse(
            response: URLResponse(
                url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: bytes, textEncodingName: nil),
            data: Data(count: bytes), userInfo: nil, storagePolicy: policy, metadata: metadata)
    }

    private func same(_ entries: [CacheEntry]?, _ responses: CachedURLResponse...) -> Bool {
        guard let entries, entries.count == responses.count else { return false }
        return zip(entries, responses).allSatisfy { $0.response === $1 }
    }

    @Test func variantsOfOneURLStandSideBySide() {
        let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
        let (one, two, newOne) = (variant("1"), variant("2"), variant("1"))
        for response in [one, two, newOne] { cache.store(response, for: request, date: Date()) }
        #expect(same(cache.entriesInMemory(for: key), newOne, two))
        #expect(cache.cachedResponse(for: request) === newOne)
        let mine = CachedURLResponse(response: one.response, data: Data())
        cache.storeCachedResponse(mine, for: request)
        #expect(same(cache.entriesInMemory(for: key), mine))
        cache.store(two, for: request, date: Date())
        #expect(same(cache.entriesInMemory(for: key), two))
    }

    @Test func thereAreNotTooManyOfThem() {
        let cache = URLCache(memoryCapacity: 100_000, diskCapacity: 0, diskPath: nil)
        for index in 0..<50 { cache.store(variant("\(index)"), for: request, date: Date()) }
        let kept = cache.entriesInMemory(for: key)?.compactMap { $0.response.metadata?.varyKey.first?.value }
        #expect(kept == (34..<50).reversed().map { "\($0)" })
        #expect(cache.currentMemoryUsage == 16 + "http://h/a".utf8.count)
        cache.remove(key)
        #expect(cache.currentMemoryUsage == 0 && cache.entriesInMemory(for: key)?.isEmpty == true)
    }

    @Test func someAreForgottenByDate() {
        let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
        let (old, new) = (variant("1"), variant("2"))
        cache.store(old, for: request, date: Date(timeIntervalSince1970: 1000))
        cache.store(new, for: request, date: Date(timeIntervalSince1970: 2000))
        cache.removeCachedResponses(since: Date(timeIntervalSince1970: 1500))
        #expect(same(cache.entriesInMemory(for: key), old))
    }

    @Test func partsAreForSessionsAlone() {
        let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
        cache.store(variant(nil, part: .init(start: 1, total: 2)), for: request, date: Date())
        #expect(cache.cachedResponse(for: request) == nil && cache.entriesInMemory(for: key)?.count == 1)
    }

    @Test func aTwentiethOfTheDiskIsTheMost() {
        let disk = FakeDisk()
        let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 2000, disk: disk)
        #expect(disk.capacity.withLock { $0 } == 2000 && cache.largestResponse == 500)
        cache.store(variant("1", bytes: 100), for: request, date: Date())
        cache.store(variant("2", bytes: 60, policy: .allowed), for: request, date: Date())
        #expect(cache.currentDiskUsage == 160)
        // What is too large for the disk, or not meant for it, leaves nothing there that is older.
        cache.store(variant("3", bytes: 101), for: request, date: Date())
        #expect(cache.currentDiskUsage == 0 && cache.entriesInMemory(for: key)?.count == 3)
        cache.store(variant("4", policy: .allowedInMemoryOnly), for: request, date: Date())
        #expect(cache.currentDiskUsage == 0)
        // A program may keep what it likes.
        cache.storeCachedResponse(variant("5", bytes: 1999), for: request)
        #expect(cache.currentDiskUsage == 1999)
        cache.memoryCapacity = 10
        #expect(cache.largestResponse == 100)
    }

    /// What leaves no room for others is not kept; a program may keep what it likes.
    @Test func aTwentiethOfTheMemoryIsTheMost() {
        let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
        #expect(cache.largestResponse == 500)
        let small = variant("1", bytes: 500)
        cache.store(small, for: request, date: Date())
        cache.store(variant("2", bytes: 501), for: request, date: Date())
        #expect(same(cache.entriesInMemory(for: key), small))
        // What it was to replace is out of date.
        cache.store(variant("1", bytes: 501), for: request, date: Date())
        #expect(cache.entriesInMemory(for: key)?.isEmpty == true)
        let own = variant("3", bytes: 9000)
        cache.storeCachedResponse(own, for: request)
        #expect(same(cache.entriesInMemory(for: key), own))
    }

    @Test func whatIsTooLargeForTheMemoryIsFoundOnTheDisk() {
        let cache = URLCache(memoryCapacity: 2000, diskCapacity: 20_000, disk: FakeDisk())
        let (small, large) = (variant("1", bytes: 100), variant("2", bytes: 1000))
        for response in [small, large] { cache.store(response, for: request, date: Date()) }
        #expect(cache.entriesInMemory(for: key) == nil && same(cache.entries(for: key), large, small))
        // It does not take the place of others there.
        #expect(cache.currentMemoryUsage == 0)
    }

    /// A small response that is stored later does not hide it.
    @Test func whatIsTooLargeForTheMemoryIsNotHidden() {
        let cache = URLCache(memoryCapacity: 2000, diskCapacity: 40_000, disk: FakeDisk())
        let (large, small, smaller) = (variant("1", bytes: 1000), variant("2", bytes: 100), variant("2"))
        cache.store(large, for: request, date: Date())
        for response in [small, smaller] {
            cache.store(response, for: request, date: Date())
            #expect(cache.entriesInMemory(for: key) == nil && same(cache.entries(for: key), response, large))
        }
        // A program's response replaces both.
        let own = CachedURLResponse(response: small.response, data: Data())
        cache.storeCachedResponse(own, for: request)
        #expect(same(cache.entriesInMemory(for: key), own))
    }

    @Test func whatMemoryForgotIsReadFromTheDisk() {
        let disk = FakeDisk()
        let cache = URLCache(memoryCapacity: 1000, diskCapacity: 2000, disk: disk)
        let response = variant("1")
        cache.store(response, for: request, date: Date())
        cache.memoryCapacity = 0
        cache.memoryCapacity = 1000
        #expect(cache.entriesInMemory(for: key) == nil)
        #expect(same(cache.entries(for: key), response))
        #expect(same(cache.entriesInMemory(for: key), response))
        cache.removeCachedResponse(for: request)
        #expect(cache.cachedResponse(for: request) == nil)
        cache.store(response, for: request, date: Date())
        cache.removeCachedResponses(since: .distantPast)
        #expect(cache.currentDiskUsage == 0 && cache.currentMemoryUsage == 0)
        cache.store(response, for: request, date: Date())
        cache.removeAllCachedResponses()
        #expect(cache.currentDiskUsage == 0)
        cache.diskCapacity = 7
        #expect(disk.capacity.withLock { $0 } == 7)
    }

    /// The ways to remove the response to `request`.
    private var removals: [(URLCache) -> Void] {
        [
            { $0.removeCachedResponse(for: self.request) }, { $0.removeAllCachedResponses() },
            { $0.removeCachedResponses(since: .distantPast) },
        ]
    }

    /// Another thread looks up while the disk still has what is removed or replaced.
    @Test(arguments: 0..<4) func aLookUpDuringAChangeBringsNothingBack(kind: Int) {
        let disk = FakeDisk()
        let cache = URLCache(memoryCapacity: 2000, diskCapacity: 20_000, disk: disk)
        let (old, large) = (variant("1"), variant("1", bytes: 1000))
        cache.store(old, for: request, date: Date())
        cache.memoryCapacity = 0
        cache.memoryCapacity = 2000
        disk.willChange.withLock { $0 = { [weak cache, key] in _ = cache?.entries(for: key) } }
        if kind < 3 {
            removals[kind](cache)
            #expect(cache.entries(for: key).isEmpty)
        } else {
            cache.store(large, for: request, date: Date())
            #expect(same(cache.entries(for: key), large))
        }
        #expect(cache.currentMemoryUsage == 0)
    }

    /// A response is not stored if its load began before a removal.
    @Test(arguments: 0..<3) func whatIsRemovedDuringALoadIsNotStored(kind: Int) {
        let disk = FakeDisk()
        let cache = URLCache(memoryCapacity: 2000, diskCapacity: 20_000, disk: disk)
        let (mark, response) = (cache.mark, variant("1"))
        removals[kind](cache)
        #expect(!cache.store(response, for: request, date: Date(), since: mark))
        #expect(cache.entries(for: key).isEmpty && cache.currentMemoryUsage == 0)
        let later = cache.mark
        // The removal while it is being stored.
        let changes = Guarded(1)
        disk.willChange.withLock {
            $0 = { [weak cache, request] in
                let left = changes.withLock { count in
                    count -= 1
                    return count
                }
                if left == 0 { cache?.removeCachedResponse(for: request) }
            }
        }
        #expect(!cache.store(response, for: request, date: Date(), since: later))
        #expect(cache.entries(for: key).isEmpty && cache.currentMemoryUsage == 0)
        #expect(cache.store(response, for: request, date: Date(), since: cache.mark))
        #expect(same(cache.entries(for: key), response))
    }

    /// A load's own response may remove what it replaces.
    @Test func aLoadIsNotOutdatedByItsOwnRemoval() {
        let cache = URLCache(memoryCapacity: 2000, diskCapacity: 0, diskPath: nil)
        let other = CacheKey(method: "GET", text: "http://h/b")
        let mark = cache.mark
        cache.remove(other)
        let renewed = cache.remove([key, other], by: mark, storing: key)
        #expect(cache.store(variant("1"), for: request, date: Date(), since: renewed))
        #expect(!cache.store(variant("1"), for: request, date: Date(), since: mark))
        cache.remove(key)
        let outdated = cache.remove([key], by: renewed, storing: key)
        #expect(!cache.store(variant("1"), for: request, date: Date(), since: outdated))
    }

    @Test func thereAreNotTooManyRemovals() {
        let cache = URLCache(memoryCapacity: 2000, diskCapacity: 0, diskPath: nil)
        let mark = cache.mark
        for index in 0..<CacheRemovals.maximumKeys { cache.remove(CacheKey(method: "GET", text: "http://h/\(index)")) }
        #expect(cache.store(variant("1"), for: request, date: Date(), since: mark))
        let late = cache.mark
        cache.remove(CacheKey(method: "GET", text: "http://h/0"))
        #expect(cache.store(variant("1"), for: request, date: Date(), since: mark))
        cache.remove(CacheKey(method: "GET", text: "http://h/more"))
        #expect(!cache.store(variant("1"), for: request, date: Date(), since: mark))
        #expect(cache.store(variant("1"), for: request, date: Date(), since: late))
        cache.remove(key)
        for index in 0..<10 { cache.remove(CacheKey(method: "GET", text: "http://h/further/\(index)")) }
        #expect(!cache.store(variant("1"), for: request, date: Date(), since: late))
        #expect(cache.store(variant("1"), for: request, date: Date(), since: cache.mark))
    }

    @Test func subclassesDecide() {
        final class Nothing: URLCache, @unchecked Sendable {  // no state of its own
            override func cachedResponse(for request: URLRequest) -> CachedURLResponse? { nil }
            override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {}
        }
        final class Everything: URLCache, @unchecked Sendable {}  // no state of its own
        let nothing = Nothing(memoryCapacity: 1000, diskCapacity: 0, diskPath: nil)
        nothing.store(variant("1"), for: request, date: Date())
        #expect(nothing.entries(for: key).isEmpty && nothing.currentMemoryUsage == 0)
        let everything = Everything(memoryCapacity: 1000, diskCapacity: 0, diskPath: nil)
        let response = variant("1")
        everything.store(response, for: request, date: Date())
        #expect(everything.entriesInMemory(for: key) == nil && same(everything.entries(for: key), response))
    }

    @Test func metadataIsCodable() throws {
        let metadata = CacheMetadata(
            requestTime: Date(timeIntervalSince1970: 1), responseTime: Date(timeIntervalSince1970: 2),
            varyKey: [.init(name: "a", value: nil)], part: .init(start: 3, total: nil), lacksContent: true)
        let data = try JSONEncoder().encode(metadata)
        #expect(try JSONDecoder().decode(CacheMetadata.self, from: data) == metadata)
    }
}
