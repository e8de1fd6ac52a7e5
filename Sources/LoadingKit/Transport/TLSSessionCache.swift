import COpenSSL
import Foundation
import Synchronization

/// TLS sessions to resume, by server. A TLS 1.3 ticket is used once (RFC 8446 §C.4).
final class TLSSessionCache: Sendable {
    /// The most sessions kept for one server, and servers kept at all.
    private static let perServer = 8
    private static let servers = 256

    private struct Session: @unchecked Sendable {  // OpenSSL's sessions do not change once they are made
        let pointer: OpaquePointer
    }

    private let sessions = Mutex<[String: [Session]]>([:])

    deinit { sessions.withLock { all in for session in all.values.joined() { SSL_SESSION_free(session.pointer) } } }

    /// Gives a session, which the caller owns.
    func take(_ server: String) -> OpaquePointer? {
        sessions.withLock { all -> Session? in
            guard let last = all[server]?.last else { return nil }
            if LK_SSL_SESSION_is_single_use(last.pointer) == 1 {
                all[server]?.removeLast()
            } else {
                SSL_SESSION_up_ref(last.pointer)
            }
            return last
        }?.pointer
    }

    private func keep(_ session: OpaquePointer, _ server: String) {
        let new = Session(pointer: session)
        sessions.withLock { all in
            if all.count >= Self.servers, all[server] == nil, let other = all.keys.first {
                for old in all.removeValue(forKey: other) ?? [] { SSL_SESSION_free(old.pointer) }
            }
            all[server, default: []].append(new)
            if let count = all[server]?.count, count > Self.perServer, let old = all[server]?.removeFirst() {
                SSL_SESSION_free(old.pointer)
            }
        }
    }

    /// OpenSSL calls this with each session that a server offers; 1 means that we own it from then on.
    static let remember: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
        guard let ssl, let session, let owner = LK_SSL_get_owner(ssl) else { return 0 }
        let tls = Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue()
        tls.context.sessions.keep(session, tls.serverKey)
        return 1
    }
}
