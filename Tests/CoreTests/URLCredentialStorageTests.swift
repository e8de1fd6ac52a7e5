import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore

@Suite("URLCredentialStorage")
struct URLCredentialStorageTests {
    private static let space = makeSpace("h")

    private static func makeSpace(_ host: String) -> URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: 80, protocol: "http", realm: "r", authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
    }

    private static func credential(
        _ user: String, _ password: String = "p", _ persistence: URLCredential.Persistence = .forSession
    ) -> URLCredential {
        URLCredential(user: user, password: password, persistence: persistence)
    }

    @Test("credentials are kept by space and user")
    func keeping() {
        let storage = URLCredentialStorage()
        #expect(storage.credentials(for: Self.space) == nil && storage.allCredentials.isEmpty)
        storage.set(Self.credential("a"), for: Self.space)
        storage.set(Self.credential("b"), for: Self.makeSpace("h"))
        storage.set(Self.credential("a", "new"), for: Self.space)
        storage.set(Self.credential("c"), for: Self.makeSpace("other"))
        storage.set(Self.credential("d", "p", .none), for: Self.space)
        let expected = ["a": Self.credential("a", "new"), "b": Self.credential("b")]
        #expect(storage.credentials(for: Self.space) == expected)
        #expect(storage.allCredentials == [Self.space: expected, Self.makeSpace("other"): ["c": Self.credential("c")]])
        #expect(storage.defaultCredential(for: Self.makeSpace("none")) == nil)
    }

    @Test("a space has one default credential, which is kept with the others: the first, until another is set")
    func defaults() {
        let storage = URLCredentialStorage()
        storage.set(Self.credential("x", "p", .none), for: Self.space)
        #expect(storage.defaultCredential(for: Self.space) == nil)
        storage.set(Self.credential("a"), for: Self.space)
        storage.set(Self.credential("z"), for: Self.space)
        #expect(storage.defaultCredential(for: Self.space)?.user == "a")
        storage.remove(Self.credential("z"), for: Self.space)
        storage.setDefaultCredential(Self.credential("b"), for: Self.space)
        #expect(storage.defaultCredential(for: Self.space) == Self.credential("b"))
        #expect(storage.credentials(for: Self.space)?.count == 2)
        storage.setDefaultCredential(Self.credential("c", "p", .none), for: Self.space)
        #expect(storage.defaultCredential(for: Self.space)?.user == "b")
        storage.set(Self.credential("b", "new"), for: Self.space)
        #expect(storage.defaultCredential(for: Self.space)?.password == "new")
        storage.setDefaultCredential(Self.credential("a"), for: Self.space)
        #expect(storage.defaultCredential(for: Self.space)?.user == "a")
        storage.remove(Self.credential("a"), for: Self.space)
        #expect(storage.defaultCredential(for: Self.space) == nil)
    }

    @Test("what is removed is gone; what is synchronizable only on purpose")
    func removing() {
        let storage = URLCredentialStorage()
        for persistence in [URLCredential.Persistence.forSession, .permanent, .synchronizable] {
            storage.set(Self.credential("a", "p", persistence), for: Self.space)
            storage.remove(Self.credential("b", "p", persistence), for: Self.space)
            storage.remove(Self.credential("a", "p", persistence), for: Self.makeSpace("other"))
            #expect(storage.credentials(for: Self.space)?.count == 1)
            storage.remove(Self.credential("a", "p", persistence), for: Self.space)
            #expect((storage.credentials(for: Self.space) == nil) == (persistence != .synchronizable))
        }
        let options = [NSURLCredentialStorageRemoveSynchronizableCredentials: NSNumber(value: true)]
        storage.remove(Self.credential("a", "p", .synchronizable), for: Self.space, options: options)
        #expect(storage.allCredentials.isEmpty)
    }

    @Test("tasks have the same credentials as everyone")
    func tasks() {
        let storage = URLCredentialStorage()
        let task = URLSessionTask()
        storage.set(Self.credential("a"), for: Self.space, task: task)
        storage.setDefaultCredential(Self.credential("b"), for: Self.space, task: task)
        var found: [String]?
        storage.getCredentials(for: Self.space, task: task) { found = $0?.keys.sorted() }
        #expect(found == ["a", "b"])
        var proposed: URLCredential?
        storage.getDefaultCredential(for: Self.space, task: task) { proposed = $0 }
        #expect(proposed?.user == "b")
        storage.remove(Self.credential("b"), for: Self.space, task: task)
        storage.getDefaultCredential(for: Self.space, task: task) { proposed = $0 }
        #expect(proposed == nil)
    }

    @Test("of what sessions store for their own time the latest is kept, and all that the program has set")
    func limit() {
        let storage = URLCredentialStorage()
        let (own, later, permanent) = (Self.makeSpace("own"), Self.makeSpace("later"), Self.makeSpace("permanent"))
        storage.set(Self.credential("a"), for: own)
        storage.serverDidAccept(Self.credential("a", "new"), for: own)
        storage.serverDidAccept(Self.credential("b"), for: own)
        let accepted = Self.credential("a")
        storage.serverDidAccept(accepted, for: later)
        storage.set(accepted, for: later)
        storage.serverDidAccept(Self.credential("a", "p", .permanent), for: permanent)
        for index in 0..<20_000 {
            storage.serverDidAccept(Self.credential("a"), for: Self.makeSpace("\(index)"))
        }
        #expect(storage.allCredentials.count <= 10_003)
        #expect(storage.credentials(for: own) == ["a": Self.credential("a", "new")])
        #expect(storage.defaultCredential(for: later) == accepted)
        #expect(storage.credentials(for: permanent)?.count == 1)
        let first = Self.makeSpace("0")
        #expect(storage.credentials(for: first) == nil && storage.defaultCredential(for: first) == nil)
        #expect((12_000..<20_000).allSatisfy { storage.defaultCredential(for: Self.makeSpace("\($0)")) != nil })
    }

    @Test("changes, and nothing else, are told of")
    func notifications() {
        let storage = URLCredentialStorage()
        let count = Counter()
        let token = NotificationCenter.default.addObserver(
            forName: .NSURLCredentialStorageChanged, object: storage, queue: nil
        ) { _ in count.value.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(token) }
        let steps: [(Int, (URLCredentialStorage) -> Void)] = [
            (1, { $0.set(Self.credential("a"), for: Self.space) }),
            (1, { $0.set(Self.credential("a"), for: Self.space) }),
            (1, { $0.set(Self.credential("b", "p", .none), for: Self.space) }),
            (2, { $0.set(Self.credential("a", "new"), for: Self.space) }),
            (2, { $0.setDefaultCredential(Self.credential("a", "new"), for: Self.space) }),
            (3, { $0.set(Self.credential("b"), for: Self.space) }),
            (4, { $0.setDefaultCredential(Self.credential("b"), for: Self.space) }),
            (4, { $0.setDefaultCredential(Self.credential("b"), for: Self.space) }),
            (4, { $0.remove(Self.credential("c"), for: Self.space) }),
            (5, { $0.remove(Self.credential("a"), for: Self.space) }),
            (6, { $0.removeAll() }),
            (6, { $0.removeAll() }),
        ]
        for (index, (expected, step)) in steps.enumerated() {
            step(storage)
            #expect(count.value.withLock { $0 } == expected, "\(index)")
        }
    }

    @Test("a removal also holds for what another process has stored, which is not told of")
    func removalFromTheStore() {
        let store = MemoryStore()
        let storage = URLCredentialStorage(store)
        let count = Counter()
        let token = NotificationCenter.default.addObserver(
            forName: .NSURLCredentialStorageChanged, object: storage, queue: nil
        ) { _ in count.value.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(token) }
        let stored = StoredCredential(
            space: Self.space, credential: Self.credential("a", "p", .permanent), isDefault: true)
        store.save([.keep(stored)])
        storage.remove(Self.credential("a", "p", .synchronizable), for: Self.space)
        storage.remove(Self.credential("b"), for: Self.space)
        #expect(store.load() == [stored])
        storage.remove(Self.credential("a"), for: Self.space)
        #expect(store.load().isEmpty && count.value.withLock { $0 } == 0)
        // This process has one of its own, for the session alone.
        storage.set(Self.credential("a"), for: Self.space)
        store.save([.keep(stored)])
        storage.remove(Self.credential("a"), for: Self.space)
        #expect(store.load().isEmpty && count.value.withLock { $0 } == 2)
    }

    @Test("lets what it forgets, and what it compares, use it")
    func reentrancy() {
        final class Guest: URLCredential, @unchecked Sendable {  // its properties are set before it is shared
            var storage: URLCredentialStorage?
            var onEnd: () -> Void = {}
            deinit { onEnd() }
            override func isEqual(_ object: Any?) -> Bool {
                _ = storage?.allCredentials
                return super.isEqual(object)
            }
        }
        final class Place: URLProtectionSpace, @unchecked Sendable {  // its one property is set before it is shared
            var onEnd: () -> Void = {}
            deinit { onEnd() }
        }
        let steps: [(Int, (URLCredentialStorage) -> Void)] = [
            (1, { $0.set(Self.credential("a"), for: Self.makeSpace("place")) }),
            (1, { $0.setDefaultCredential(Self.credential("a", "new"), for: Self.makeSpace("place")) }),
            (2, { $0.remove(Self.credential("a"), for: Self.makeSpace("place")) }),
            (2, { $0.removeAll() }),
            (2, { $0.reload() }),
        ]
        for (index, (expected, step)) in steps.enumerated() {
            let storage = URLCredentialStorage(ForgetfulStore())
            nonisolated(unsafe) var counts: [Int] = []
            do {
                let guest = Guest(user: "a", password: "p", persistence: .permanent)
                let place = Place(
                    host: "place", port: 80, protocol: "http", realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
                guest.storage = storage
                guest.onEnd = { counts.append(storage.allCredentials.count) }
                place.onEnd = { counts.append(storage.allCredentials.count) }
                storage.set(guest, for: place)
            }
            #expect(counts.isEmpty)
            step(storage)
            #expect(counts.count == expected, "\(index)")
            storage.removeAll()
        }
    }

    @Test("permanent credentials go to the store, and come from it")
    func stores() {
        let store = MemoryStore()
        let storage = URLCredentialStorage(store)
        storage.set(Self.credential("a"), for: Self.space)
        #expect(store.load().isEmpty)
        let (permanent, synchronizable) = (
            Self.credential("b", "p", .permanent), Self.credential("c", "p", .synchronizable)
        )
        storage.set(permanent, for: Self.space)
        storage.setDefaultCredential(synchronizable, for: Self.makeSpace("other"))
        #expect(
            Set(store.load()) == [
                StoredCredential(space: Self.space, credential: permanent, isDefault: false),
                StoredCredential(space: Self.makeSpace("other"), credential: synchronizable, isDefault: true),
            ])
        let later = URLCredentialStorage(store)
        #expect(later.credentials(for: Self.space) == ["b": permanent])
        #expect(later.defaultCredential(for: Self.makeSpace("other")) == synchronizable)
        // Kept for the session alone in place of the permanent one, which is gone with it.
        storage.set(Self.credential("b"), for: Self.space)
        #expect(store.load().map(\.credential) == [synchronizable])
        storage.removeAll()
        #expect(store.load().isEmpty && store.count == 4)
    }

    @Test("user and password count in their form of Unicode, as a server compares them")
    func formsOfUnicode() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let store = MemoryStore()
        let storage = URLCredentialStorage(store)
        storage.set(Self.credential("a", composed, .permanent), for: Self.space)
        storage.set(Self.credential("a", decomposed, .permanent), for: Self.space)
        #expect(store.load().compactMap(\.credential.password).map { Array($0.utf8) } == [Array(decomposed.utf8)])
        storage.remove(Self.credential("a"), for: Self.space)
        for user in [composed, decomposed] { storage.set(Self.credential(user, "p", .permanent), for: Self.space) }
        #expect(store.load().compactMap(\.credential.user).map { Array($0.utf8) } == [Array(decomposed.utf8)])
        storage.remove(Self.credential(composed), for: Self.space)
        #expect(store.load().isEmpty && storage.allCredentials.isEmpty)
    }
}

private final class Counter: Sendable {
    let value = Guarded(0)
}

/// Keeps nothing, so that what a storage reads from it again is gone.
private struct ForgetfulStore: CredentialStore {
    func load() -> [StoredCredential] { [] }

    func version() -> String? { "1" }

    func save(_ changes: [CredentialChange]) {}

    func flush(_ completion: @escaping @Sendable () -> Void) { completion() }
}

private final class MemoryStore: CredentialStore {
    private let changes = Guarded<[CredentialChange]>([])

    var count: Int { changes.withLock { $0.count } }

    /// What the changes come to.
    func load() -> [StoredCredential] {
        changes.withLock { $0 }.reduce(into: []) { kept, change in
            switch change {
            case .forgetAll: kept = []
            case .forget(let user, let space):
                kept.removeAll { $0.space == space && $0.credential.user.hasSameBytes(as: user) }
            case .keep(let new):
                kept.removeAll { $0.space == new.space && $0.credential.user.hasSameBytes(as: new.credential.user) }
                kept.append(new)
            }
        }
    }

    func save(_ changes: [CredentialChange]) { self.changes.withLock { $0 += changes } }

    func flush(_ completion: @escaping @Sendable () -> Void) { completion() }
}
