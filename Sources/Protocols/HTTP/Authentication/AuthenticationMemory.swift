import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The credentials that servers and proxies have accepted in a session. A request within a protection space is sent
/// with the accepted credential, which saves a challenge (RFC 7617 §2.2, RFC 7616 §3.6).
///
/// A credential counts only while the credential storage has it, too. One that the program removes there is not used
/// any more.
final class AuthenticationMemory {
    /// The number of folders that are remembered of a protection space. Beyond it the oldest are forgotten, and need a
    /// challenge again.
    private static let maximumPaths = 100

    private struct Entry {
        let space: URLProtectionSpace
        let credential: URLCredential
        var scheme: any HTTPAuthenticationScheme
        var paths: [String]
        /// The binding to the connection on which the credential was accepted.
        let channelBinding: Data?
    }

    /// The identity with which a session's connections to an origin are authenticated.
    enum ConnectionIdentity: Equatable {
        case one(Data)
        /// Connections have different identities. Which one a response was for is not known.
        case several
    }

    private let storage: URLCredentialStorage?
    private var entries: [AuthenticationSite: [Entry]] = [:]
    /// Identities by certificates, and by schemes that bind to a connection. Kept for the session's life, as
    /// connections may be open.
    private var connections: [Origin: ConnectionIdentity] = [:]

    init(_ storage: URLCredentialStorage?) { self.storage = storage }

    func knows(_ site: AuthenticationSite) -> Bool { !entries.isEmpty && entries[site] != nil }

    func reset() { entries = [:] }

    /// Whether the session has not authenticated itself anywhere.
    var isEmpty: Bool { entries.isEmpty && connections.isEmpty }

    // MARK: Connections

    func connectionIdentity(at origin: Origin) -> ConnectionIdentity? {
        connections.isEmpty ? nil : connections[origin]
    }

    /// The client will send a certificate in a TLS handshake.
    func willAuthenticateConnection(to origin: Origin, as identity: TLSIdentity) {
        note(Data(identity.certificate.der), origin)
    }

    /// The client will send a credential with a scheme that binds to a connection.
    func willAuthenticateConnection(to site: AuthenticationSite, as credential: URLCredential) {
        guard case .server(let origin) = site else { return }
        note(Data("\(credential.user ?? "")\n\(credential.password ?? "")".utf8), origin)
    }

    private func note(_ identity: Data, _ origin: Origin) {
        switch connections[origin] {
        case nil: connections[origin] = .one(identity)
        case .one(identity)?, .several?: break
        case .one?: connections[origin] = .several
        }
    }

    // MARK: Protection spaces

    /// The credential that is remembered for a target: that of the longest path which the target begins with.
    func credential(
        forTarget target: String, at site: AuthenticationSite
    ) -> (offer: AuthenticationOffer, credential: URLCredential, channelBinding: Data?)? {
        let path = target.prefix { $0 != "?" }
        var best: (entry: Entry, length: Int)?
        for entry in entries[site] ?? [] {
            for known in entry.paths where path.hasPrefix(known) && known.utf8.count > best?.length ?? -1 {
                best = (entry, known.utf8.count)
            }
        }
        guard let entry = best?.entry, isCurrent(entry, site) else { return nil }
        let challenge = HTTPAuthenticationChallenge(scheme: type(of: entry.scheme).name)
        let offer = AuthenticationOffer(challenge: challenge, scheme: entry.scheme, space: entry.space)
        return (offer, entry.credential, entry.channelBinding)
    }

    /// The credential that was accepted in a protection space.
    func credential(for space: URLProtectionSpace, at site: AuthenticationSite) -> URLCredential? {
        guard let entry = entries[site]?.first(where: { $0.space.isSameRealm(as: space) }), isCurrent(entry, site)
        else {
            return nil
        }
        return entry.credential
    }

    /// The field's value to send within a protection space, and the scheme that made it. Each use of a nonce is counted
    /// here. Nil when another credential has replaced this one.
    func authorization(
        for request: HTTPAuthenticationRequest, with credential: URLCredential, in space: URLProtectionSpace,
        at site: AuthenticationSite
    ) -> (value: String, scheme: any HTTPAuthenticationScheme)? {
        guard let index = index(of: space, site), entries[site]?[index].credential == credential,
            let value = entries[site]?[index].scheme.authorization(for: request, with: credential),
            let scheme = entries[site]?[index].scheme
        else { return nil }
        return (value, scheme)
    }

    /// Remembers a credential that was accepted, unless it is for one request alone, or the session has no credential
    /// storage.
    func remember(
        _ scheme: any HTTPAuthenticationScheme, _ credential: URLCredential, for target: String,
        in space: URLProtectionSpace, at site: AuthenticationSite, channelBinding: Data? = nil
    ) {
        guard storage != nil, credential.persistence != .none else { return }
        let index = index(of: space, site)
        var paths = index.flatMap { entries[site]?[$0].paths } ?? []
        for path in Self.paths(scheme, around: String(target.prefix { $0 != "?" }), at: site)
        where !paths.contains(where: path.hasPrefix) {
            paths.append(path)
        }
        let entry = Entry(
            space: space, credential: credential, scheme: scheme, paths: paths.suffix(Self.maximumPaths),
            channelBinding: channelBinding)
        if let index { entries[site]?[index] = entry } else { entries[site, default: []].append(entry) }
    }

    /// A proxy's protection space is all requests through it, if the scheme allows a credential before a challenge.
    private static func paths(
        _ scheme: any HTTPAuthenticationScheme, around path: String, at site: AuthenticationSite
    ) -> [String] {
        guard site.isProxy else { return scheme.paths(around: path) }
        return scheme.paths(around: "/").isEmpty ? [] : [""]
    }

    /// Forgets a credential that the server does not accept any more.
    func forget(_ credential: URLCredential, in space: URLProtectionSpace, at site: AuthenticationSite) {
        entries[site]?.removeAll { $0.space.isSameRealm(as: space) && $0.credential == credential }
        if entries[site]?.isEmpty == true { entries[site] = nil }
    }

    private func index(of space: URLProtectionSpace, _ site: AuthenticationSite) -> Int? {
        entries[site]?.firstIndex { $0.space.isSameRealm(as: space) }
    }

    private func isCurrent(_ entry: Entry, _ site: AuthenticationSite) -> Bool {
        // Nobody has stored the scheme's own.
        let ownCredential = type(of: entry.scheme).defaultCredential
        if ownCredential?.hasSameUserAndPassword(as: entry.credential) == true { return true }
        let stored = entry.credential.user.flatMap { storage?.credentials(for: entry.space)?[$0] }
        if stored == entry.credential { return true }
        forget(entry.credential, in: entry.space, at: site)
        return false
    }
}
