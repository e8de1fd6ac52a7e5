import Foundation
import LoadingKit

/// The tickets that a session has acquired with users' passwords, so that not every request contacts the KDC.
final class CredentialCache: @unchecked Sendable {  // the variable is guarded by `lock`
    /// Most programs have few users. The least recently used one is removed.
    private static let maximumCount = 8

    private struct User: Hashable {
        let name: String
        let password: String
    }

    private let lock = NSLock()
    private var known: [(user: User, tickets: GSSCredential)] = []

    /// The tickets of a credential; nil for all tickets of the user who runs the program. May contact the KDC.
    ///
    /// - Parameter mayBeOther: whether the user's own credential may be of another kind than Kerberos tickets, such as
    ///   NTLM's password.
    func find(_ credential: URLCredential, mayBeOther: Bool) throws(GSSError) -> GSSCredential? {
        guard let name = credential.user, !name.isEmpty else { return mayBeOther ? nil : try GSSCredential() }
        let principal = Self.principal(name)
        guard let password = credential.password, !password.isEmpty else {
            return try GSSCredential(user: principal, password: nil)
        }
        let user = User(name: principal, password: password)
        let kept = lock.withLock { known.first { $0.user == user }?.tickets }
        let tickets =
            if let kept, kept.isValid { kept } else { try GSSCredential(user: principal, password: password) }
        keep(tickets, user)
        return tickets
    }

    private func keep(_ tickets: GSSCredential, _ user: User) {
        lock.withLock {
            known.removeAll { $0.user == user }
            known.append((user, tickets))
            if known.count > Self.maximumCount { known.removeFirst() }
        }
    }

    /// `DOMAIN\user` is also the user of a realm.
    private static func principal(_ name: String) -> String {
        guard let separator = name.firstIndex(of: "\\") else { return name }
        return "\(name[name.index(after: separator)...])@\(name[..<separator])"
    }
}
