import CLoadingKitOpenSSL
import Glibc
import LoadingKitPrimitives

/// A session that a later connection may resume.
final class ResumableSession: @unchecked Sendable {  // OpenSSL counts references atomically, and only marks it
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

    /// Whether OpenSSL would offer the session. It does not after a failure of the connection to which the object belongs.
    var isResumable: Bool { SSL_SESSION_is_resumable(session) == 1 }

    /// A session of its own, which no connection's failure concerns; nil when memory is out.
    var copy: ResumableSession? { SSL_SESSION_dup(session).map { ResumableSession(owning: $0) } }

    /// Whether the session is used once. A TLS 1.3 ticket is not reused while there are others, so that connections
    /// cannot be linked (RFC 8446 §C.4).
    var isUsedOnce: Bool { SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION }
}

/// The sessions of a context, by server.
final class TLSSessionStore: Sendable {
    private let table: TLSSessionTable

    init(in table: TLSSessionTable = .process) { self.table = table }

    deinit { table.removeAll(of: ObjectIdentifier(self)) }

    func put(_ session: ResumableSession, for server: String) { table.put(session, server, ObjectIdentifier(self)) }

    /// The newest session with a server that OpenSSL would offer. If more connections are opened at once than the server has
    /// sent tickets, several of them use the last session: they come from one address at one time, so they can be linked
    /// anyway.
    func take(for server: String) -> ResumableSession? { table.take(server, ObjectIdentifier(self)) }
}

/// The sessions of several stores, and a limit for all of them: beyond it, those of the servers go that were used least
/// recently.
final class TLSSessionTable: Sendable {
    static let process = TLSSessionTable(maximumServers: 1024)

    /// Servers commonly send two tickets on each connection, and each is stored with the server's certificates, in some
    /// kilobytes. If more connections are opened at once, the last ticket serves several of them.
    static let maximumSessionsPerServer = 4

    private struct Server: Hashable {
        var name: String
        var store: ObjectIdentifier
    }

    private struct Entry {
        var sessions: [ResumableSession] = []
        var lastUse = 0
    }

    private struct State {
        var entries: [Server: Entry] = [:]
        var useCount = 0

        /// Several at once, so that the table is not searched for each one.
        mutating func removeOldest(_ count: Int) -> [ResumableSession] {
            let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(count)
            return oldest.flatMap { entries.removeValue(forKey: $0.key)?.sessions ?? [] }
        }
    }

    private let maximumServers: Int
    private let state = Guarded(State())

    /// - Parameter maximumServers: the number of servers of all stores together, a server of two stores counted twice.
    init(maximumServers: Int) { self.maximumServers = maximumServers }

    fileprivate func put(_ session: ResumableSession, _ name: String, _ store: ObjectIdentifier) {
        let server = Server(name: name, store: store)
        // The lock is not held when removed sessions are freed.
        _ = state.withLock { state in
            var entry = state.entries[server] ?? Entry()
            let removed = entry.sessions
            if !session.isUsedOnce { entry.sessions = [] }
            entry.sessions = (entry.sessions + [session]).suffix(Self.maximumSessionsPerServer)
            state.useCount += 1
            entry.lastUse = state.useCount
            state.entries[server] = entry
            return removed + (state.entries.count > maximumServers ? state.removeOldest(1 + maximumServers / 8) : [])
        }
    }

    fileprivate func take(_ name: String, _ store: ObjectIdentifier) -> ResumableSession? {
        let server = Server(name: name, store: store)
        // The lock is not held when removed sessions are freed.
        let (session, _) = state.withLock { state -> (ResumableSession?, [ResumableSession]) in
            guard var entry = state.entries[server] else { return (nil, []) }
            let all = entry.sessions
            entry.sessions.removeAll { !$0.isResumable }
            let session = entry.sessions.last
            if session?.isUsedOnce == true, entry.sessions.count > 1 { entry.sessions.removeLast() }
            state.useCount += 1
            entry.lastUse = state.useCount
            state.entries[server] = session == nil ? nil : entry
            return (session, all)
        }
        return session
    }

    fileprivate func removeAll(of store: ObjectIdentifier) {
        _ = state.withLock { state in
            let removed = state.entries.filter { $0.key.store == store }
            for server in removed.keys { state.entries[server] = nil }
            return removed
        }
    }
}
