#if Persistence
    import Foundation
    import LoadingKitCore
    import LoadingKitPrimitives
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    @Suite("HSTSDatabase")
    struct HSTSDatabaseTests {
        private let date = Date(timeIntervalSinceReferenceDate: 700_000_000)

        private func store(_ file: URL, at seconds: TimeInterval = 0) -> HSTSStore {
            let now = date.addingTimeInterval(seconds)
            return HSTSStore(persistence: HSTSDatabase(url: file, now: { now })) { now }
        }

        private func flush(_ store: HSTSStore) async {
            await withCheckedContinuation { done in store.flush { done.resume() } }
        }

        private func secured(_ store: HSTSStore) -> [String] {
            ["a.example", "x.a.example", "b.example", "x.b.example", "c.example"]
                .filter(store.requiresSecureConnection)
        }

        @Test("hosts are known again until they end")
        func roundTrip() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("own/StrictTransport.sqlite")
            let first = store(file)
            #expect(try folder.contents().isEmpty)
            first.note("max-age=100; includeSubDomains", from: "a.example")
            first.note("max-age=1000", from: "b.example")
            first.note("max-age=1000", from: "c.example")
            first.note("max-age=0", from: "c.example")
            await flush(first)
            #expect(secured(store(file, at: 99)) == ["a.example", "x.a.example", "b.example"])
            #expect(secured(store(file, at: 101)) == ["b.example"])
            let second = store(file, at: 101)
            second.removeAll()
            await flush(second)
            #expect(store(file).isEmpty)
        }

        @Test("what has ended is deleted with the next change")
        func ended() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("StrictTransport.sqlite")
            let first = store(file)
            first.note("max-age=100", from: "a.example")
            await flush(first)
            let second = store(file, at: 100)
            second.note("max-age=1000", from: "b.example")
            await flush(second)
            // By an earlier clock, to see what is in the file.
            #expect(secured(store(file)) == ["b.example"])
        }

        @Test("a host that ends its policy is deleted, also where another process has saved it")
        func endedElsewhere() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("StrictTransport.sqlite")
            let clock = Guarded(date)
            let now: @Sendable () -> Date = { clock.withLock { $0 } }
            let first = HSTSStore(persistence: HSTSDatabase(url: file, now: now), now: now)
            let other = store(file)
            first.note("max-age=0", from: "a.example")
            await flush(first)
            #expect(try folder.contents().isEmpty, "there was nothing to delete")
            other.note("max-age=10000", from: "a.example")
            other.note("max-age=10000", from: "b.example")
            await flush(other)
            clock.withLock { $0 += 3600 }
            first.note("max-age=0", from: "a.example")
            await flush(first)
            #expect(secured(store(file, at: 3600)) == ["b.example"])
        }

        @Test("hosts that another process has added or removed are known when they are read again")
        func reloading() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("StrictTransport.sqlite")
            let (one, other) = (store(file), store(file))
            one.reload()
            #expect(try folder.contents().isEmpty)
            for host in ["a.example", "b.example"] { other.note("max-age=1000", from: host) }
            await flush(other)
            #expect(secured(one).isEmpty)
            one.reload()
            #expect(secured(one) == ["a.example", "b.example"])
            // The store's own change is written before the others are read.
            other.note("max-age=0", from: "a.example")
            await flush(other)
            one.note("max-age=1000", from: "c.example")
            one.reload()
            #expect(secured(one) == ["b.example", "c.example"])
        }

        @Test("a policy whose later end is in memory alone keeps it when the hosts are read again")
        func laterEnd() async throws {
            let folder = try TemporaryFolder()
            let file = folder.file("StrictTransport.sqlite")
            let clock = Guarded(date)
            let now: @Sendable () -> Date = { clock.withLock { $0 } }
            let one = HSTSStore(persistence: HSTSDatabase(url: file, now: now), now: now)
            let other = store(file)
            one.note("max-age=1000", from: "a.example")
            clock.withLock { $0 += 5 }
            one.note("max-age=1000", from: "a.example")
            await flush(one)
            other.note("max-age=2000", from: "b.example")
            await flush(other)
            one.reload()
            clock.withLock { $0 += 997 }
            #expect(secured(one) == ["a.example", "b.example"])
        }

        @Test("hosts stay known where they cannot be read again")
        func unreadable() {
            let (disk, now) = (Recorder(), date)
            let store = HSTSStore(persistence: disk) { now }
            store.note("max-age=1000", from: "a.example")
            disk.fails.withLock { $0 = true }
            store.reload()
            #expect(secured(store) == ["a.example"])
            disk.fails.withLock { $0 = false }
            store.reload()
            #expect(secured(store).isEmpty)
        }

        @Test("what a host says with each answer is not written each time")
        func writing() {
            let disk = Recorder()
            let now = Guarded(date)
            let store = HSTSStore(persistence: disk) { now.withLock { $0 } }
            for _ in 0..<100 {
                store.note("max-age=1000", from: "a.example")
                now.withLock { $0 += 1 }
            }
            #expect(disk.count.withLock { $0 } < 12)
            store.note("max-age=1000; includeSubDomains", from: "a.example")
            for _ in 0..<100 { store.note("max-age=0", from: "a.example") }
            #expect(disk.count.withLock { $0 } < 14)
        }

        private final class Recorder: HSTSPersistence {
            let count = Guarded(0)
            let fails = Guarded(false)
            func load() throws -> [String: HSTSPolicy] {
                if fails.withLock({ $0 }) { throw URLError(.cannotOpenFile) }
                return [:]
            }
            func version() throws -> String? { "1" }
            func save(_ change: HSTSChange) { count.withLock { $0 += 1 } }
            func flush(_ completion: @escaping @Sendable () -> Void) { completion() }
        }
    }
#endif
