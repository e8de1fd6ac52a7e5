import CLoadingKitOpenSSL
import Glibc
import LoadingKitPrimitives

/// A session that a later connection may resume.
final class ResumableSession: @unchecked Sendable {  // OpenSSL counts references atomically, and does not change it
    let session: OpaquePointer

    init(owning session: OpaquePointer) { self.session = session }

    deinit { SSL_SESSION_free(session) }

    /// Whether the server can be expected to resume the session: the ticket's age is below the lifetime that the server
    /// stated (RFC 8446 §4.6.1).
    var isFresh: Bool {
        let hint = Int(clamping: SSL_SESSION_get_ticket_lifetime_hint(session))
        let lifetime = hint > 0 ? hint : Int(SSL_SESSION_get_timeout(session))
        let (age, overflow) = time(nil).subtractingReportingOverflow(Int(SSL_SESSION_get_time(session)))
        return !overflow && age < lifetime
    }

    /// Whether the session is used once. A TLS 1.3 ticket is not reused while there are others, so that connections
    /// cannot be linked (RFC 8446 §C.4).
    var isUsedOnce: Bool { SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION }
}

/// The sessions of a context, by server.
final class TLSSessionStore: Sendable {
    /// Servers commonly send two tickets on each connection, and each is stored with the server's certificates, in some
    /// kilobytes. If more connections are opened at once, the last ticket serves several of them.
    static let maximumSessionsPerServer = 4
    private static let maximumServers = 256

    private struct State {
        var sessions: [String: [ResumableSession]] = [:]
        /// The servers in the order of their last session, the oldest first.
        var order: [String] = []
    }

    private let state = Guarded(State())

    func put(_ session: ResumableSession, for server: String) {
        state.withLock { state in
            if let index = state.order.firstIndex(of: server) { state.order.remove(at: index) }
            state.order.append(server)
            var list = state.sessions[server] ?? []
            if !session.isUsedOnce { list.removeAll() }
            list.append(session)
            if list.count > Self.maximumSessionsPerServer { list.removeFirst() }
            state.sessions[server] = list
            if state.order.count > Self.maximumServers { state.sessions[state.order.removeFirst()] = nil }
        }
    }

    /// The newest session with a server. If more connections are opened at once than the server has sent tickets,
    /// several of them use the last session: they come from one address at one time, so they can be linked anyway.
    func take(for server: String) -> ResumableSession? {
        state.withLock { state in
            guard let sessions = state.sessions[server], let session = sessions.last else { return nil }
            if session.isUsedOnce, sessions.count > 1 { state.sessions[server]?.removeLast() }
            return session
        }
    }
}
