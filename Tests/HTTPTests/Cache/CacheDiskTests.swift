import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// A cache whose responses are on the disk, and no longer in memory.
@Suite struct CacheDiskTests {
    /// A slow disk: it returns entries when the test lets it.
    private final class SlowDisk: DiskResponseStore {
        let entries = Guarded<[CacheKey: [CacheEntry]]>([:])
        let isReady = Signal()
        let isAsked = Signal()

        func entries(for key: CacheKey) -> [CacheEntry] {
            isAsked.fire()
            isReady.waitBlocking()
            return entries.withLock { $0[key] ?? [] }
        }
        func keyedHash() -> KeyedHash? { nil }
        var usage: Int { 0 }
        func store(_ entry: CacheEntry, for key: CacheKey) { entries.withLock { $0[key] = [entry] } }
        func remove(_ key: CacheKey) { entries.withLock { $0[key] = nil } }
        func removeAll() {}
        func removeAll(since date: Date) {}
        func setCapacity(_ capacity: Int) {}
        func mayHave(_ key: CacheKey) -> Bool { true }
        func noteUse(of key: CacheKey) {}
        func flush(_ completion: @escaping @Sendable () -> Void) { completion() }
    }

    @Test func theLoopDoesNotWaitForIt() async throws {
        let disk = SlowDisk()
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, disk: disk)
        let test = try CachingSession({ $0.urlCache = cache }) { request in
            ServerResponse.text("body").adding("Cache-Control", request.path == "/" ? "max-age=10" : "no-store")
        }
        defer { test.stop() }
        try await withTimeout {
            let stored = Task { try await test.load().body }
            await disk.isAsked.wait()
            // Meanwhile a load that needs no disk ends.
            #expect(try await test.load("/", policy: .reloadIgnoringLocalCacheData).body == "body")
            disk.isReady.fire()
            #expect(try await stored.value == "body" && disk.entries.withLock { $0.count } == 1)
            cache.memoryCapacity = 0
            cache.memoryCapacity = 1 << 20
            let count = test.count
            let answer = try await test.load()
            #expect(answer.body == "body" && answer["Age"] == "0" && test.count == count)
        }
    }

    @Test func cancellingWhileTheDiskIsRead() async throws {
        let disk = SlowDisk()
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, disk: disk)
        let test = try CachingSession({ $0.urlCache = cache }) { _ in .text("body") }
        defer { test.stop() }
        try await withTimeout {
            let load = Task { await test.session.outcome(test.request()) }
            await disk.isAsked.wait()
            load.cancel()
            #expect(await load.value == .failed(.cancelled))
            disk.isReady.fire()
            let answer = try await test.load()
            #expect(answer.body == "body" && test.count == 1)
        }
    }
}
