import CLoadingKitOpenSSL
import Testing

@testable import LoadingKitTransport

@Suite("TLSSessionStore")
struct TLSSessionStoreTests {
    private func session(_ version: Int32) throws -> ResumableSession {
        let session = try #require(SSL_SESSION_new())
        #expect(SSL_SESSION_set_protocol_version(session, version) == 1)
        return ResumableSession(owning: session)
    }

    @Test("the newest tickets of a server are used once each, and the last one again")
    func tickets() throws {
        let store = TLSSessionStore()
        let sessions = try (0..<10).map { _ in try session(TLS1_3_VERSION) }
        for session in sessions { store.put(session, for: "server") }
        let most = TLSSessionStore.maximumSessionsPerServer
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
}
