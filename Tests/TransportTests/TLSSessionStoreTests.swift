import CLoadingKitOpenSSL
import Testing

@testable import LoadingKitTransport

@Suite("TLSSessionStore")
struct TLSSessionStoreTests {
    private func session(_ version: Int32) throws -> ResumableSession {
        let session = try #require(SSL_SESSION_new())
        #expect(SSL_SESSION_set_protocol_version(session, version) == 1)
        // One without an identifier cannot be resumed.
        #expect(SSL_SESSION_set1_id(session, [1], 1) == 1)
        return ResumableSession(owning: session)
    }

    @Test("the newest tickets of a server are used once each, and the last one again")
    func tickets() throws {
        let store = TLSSessionStore()
        let sessions = try (0..<10).map { _ in try session(TLS1_3_VERSION) }
        for session in sessions { store.put(session, for: "server") }
        let most = TLSSessionTable.maximumSessionsPerServer
        for session in sessions.suffix(most).reversed() { #expect(store.take(for: "server") === session) }
        #expect(store.take(for: "server") === sessions[sessions.count - most])
        #expect(store.take(for: "another") == nil)
    }

    @Test("a session of TLS 1.2 replaces the one before, and serves again")
    func sessions() throws {
        let store = TLSSessionStore()
        let (first, second) = (try session(TLS1_2_VERSION), try session(TLS1_2_VERSION))
        store.put(first, for: "server")
        store.put(second, for: "server")
        #expect(store.take(for: "server") === second && store.take(for: "server") === second)
    }

    @Test("a session that cannot be resumed is not returned, and one before it is")
    func unusable() throws {
        let store = TLSSessionStore()
        let (usable, unusable) = (try session(TLS1_3_VERSION), try session(TLS1_3_VERSION))
        store.put(usable, for: "server")
        store.put(unusable, for: "server")
        #expect(SSL_SESSION_set1_id(unusable.session, [1], 0) == 1)
        #expect(store.take(for: "server") === usable)
        #expect(SSL_SESSION_set1_id(usable.session, [1], 0) == 1)
        #expect(store.take(for: "server") == nil)
    }

    @Test("all stores together keep the sessions of a limited number of servers, those used most recently")
    func limit() throws {
        let table = TLSSessionTable(maximumServers: 16)
        let stores = [TLSSessionStore(in: table), TLSSessionStore(in: table)]
        for server in 0..<8 { for store in stores { store.put(try session(TLS1_3_VERSION), for: "\(server)") } }
        // The first server of the first store is used again, and one more server comes.
        #expect(stores[0].take(for: "0") != nil)
        stores[1].put(try session(TLS1_3_VERSION), for: "another")
        #expect(
            (0..<8).map { stores[0].take(for: "\($0)") != nil } == [true, false] + Array(repeating: true, count: 6))
        #expect(
            (0..<8).map { stores[1].take(for: "\($0)") != nil } == [false, false] + Array(repeating: true, count: 6))
        #expect(stores[1].take(for: "another") != nil)
    }

    @Test("a store that is gone makes room for others, and its sessions are freed")
    func release() throws {
        let table = TLSSessionTable(maximumServers: 4)
        weak var first: ResumableSession?
        try { () throws in
            let store = TLSSessionStore(in: table)
            for server in 0..<4 {
                let session = try session(TLS1_3_VERSION)
                first = first ?? session
                store.put(session, for: "\(server)")
            }
            #expect(first != nil)
        }()
        #expect(first == nil)
        let store = TLSSessionStore(in: table)
        for server in 0..<4 { store.put(try session(TLS1_3_VERSION), for: "\(server)") }
        #expect((0..<4).allSatisfy { store.take(for: "\($0)") != nil })
    }

    @Test("a store has no session of another one, also when that one is gone")
    func separation() throws {
        let table = TLSSessionTable(maximumServers: 16)
        let store = TLSSessionStore(in: table)
        try {
            let other = TLSSessionStore(in: table)
            other.put(try session(TLS1_2_VERSION), for: "server")
            #expect(other.take(for: "server") != nil && store.take(for: "server") == nil)
        }()
        #expect(store.take(for: "server") == nil && TLSSessionStore(in: table).take(for: "server") == nil)
    }
}
