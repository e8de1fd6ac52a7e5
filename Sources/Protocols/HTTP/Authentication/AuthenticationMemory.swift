import Foundation
import LoadingKitCore
import LoadingKitTransport

/// What servers and proxies have accepted in a session, so that they need not ask again: a request within a protection space is sent
/// with the credential that worked there (RFC 7617 §2.2, RFC 7616 §3.6).
///
/// What is remembered counts as long as the credential storage has it, too; so what a program removes there is not used
/// any more.
final class AuthenticationMemory {
    /// Beyond so many folders of a protection space the oldest are forgotten, and asked about again.
    private static let maximumPaths = 100

    private struct Entry {
        let space: URLProtectionSpace
        let credential: URLCredential
        var scheme: any HTTPAuthenticationScheme
        var paths: [String]
    }

    /// As whom a session's connections to an origin are authenticated.
    enum ConnectionIdentity: Equatable {
        case one(Data)
        /// Some as one, some as another: of a response it is not known which.
        case several
    }

    private let storage: URLCredentialStorage?
    private var entries: [AuthenticationSite: [Entry]] = [:]
    /// By certificates, and by schemes that bind to a connection. Kept as long as the session: connections may be open.
    private var connections: [Origin: ConnectionIdentity] = [:]

    init(_ storage: URLCredentialStorage?) { self.storage = storage }

    func knows(_ site: AuthenticationSite) -> Bool { !entries.isEmpty && entries[site] != nil }

    func reset() { entries = [:] }

    /// Whether nobody has proved to anybody who the client is.
    var isEmpty: Bool { entries.isEmpty && connections.isEmpty }

    // MARK: Connections

    func connectionIdentity(at origin: Origin) -> ConnectionIdentity? {
        connections.isEmpty ? nil : connections[origin]
    }

    /// A certificate is sent in a TLS handshake.
    func willAuthenticateConnection(to origin: Origin, as identity: TLSIdentity) {
        note(Data(identity.certificate.der), origin)
    }

    /// A credential is used with a scheme that binds to a connection.
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

    /// What is remembered for a target: for the longest of the paths that it begins with.
    func login(
        for target: String, at site: AuthenticationSite
    ) -> (offer: AuthenticationOffer, credential: URLCredential)? {
        let path = target.prefix { $0 != "?" }
        var best: (entry: Entry, length: Int)?
        for entry in entries[site] ?? [] {
            for known in entry.paths where path.hasPrefix(known) && known.utf8.count > best?.length ?? -1 {
                best = (entry, known.utf8.count)
            }
        }
        guard let entry = best?.entry, isCurrent(entry, site) else { return nil }
        let challenge = HTTPAuthenticationChallenge(scheme: type(of: entry.scheme).name)
        return (AuthenticationOffer(challenge: challenge, scheme: entry.scheme, space: entry.space), entry.credential)
    }

    /// The credential that worked in a protection space.
    func credential(for space: URLProtectionSpace, at site: AuthenticationSite) -> URLCredential? {
        guard let entry = entries[site]?.first(where: { $0.space.isRealm(of: space) }), isCurrent(entry, site) else {
            return nil
        }
        return entry.credential
    }

    /// What to send within a protection space, and the scheme that gave it. Each use of a nonce is counted here. Nil when
    /// another credential has taken the place of this one.
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

    /// A request was let pass. Nothing is remembered of a credential that was for one request only, or where no
    /// credentials are to be stored.
    func remember(
        _ scheme: any HTTPAuthenticationScheme, _ credential: URLCredential, for target: String,
        in space: URLProtectionSpace, at site: AuthenticationSite
    ) {
        guard storage != nil, credential.persistence != .none else { return }
        let index = index(of: space, site)
        var paths = index.flatMap { entries[site]?[$0].paths } ?? []
        for path in Self.paths(scheme, around: String(target.prefix { $0 != "?" }), at: site)
        where !paths.contains(where: path.hasPrefix) {
            paths.append(path)
        }
        let entry = Entry(
            space: space, credential: credential, scheme: scheme, paths: paths.suffix(Self.maximumPaths))
        if let index { entries[site]?[index] = entry } else { entries[site, default: []].append(entry) }
    }

    /// What a proxy protects is all that goes through it, if the scheme lets anything be sent unasked.
    private static func paths(
        _ scheme: any HTTPAuthenticationScheme, around path: String, at site: AuthenticationSite
    ) -> [String] {
        guard site.isProxy else { return scheme.paths(around: path) }
        return scheme.paths(around: "/").isEmpty ? [] : [""]
    }

    /// The server does not accept the credential any more.
    func forget(_ credential: URLCredential, in space: URLProtectionSpace, at site: AuthenticationSite) {
        entries[site]?.removeAll { $0.space.isRealm(of: space) && $0.credential == credential }
        if entries[site]?.isEmpty == true { entries[site] = nil }
    }

    private func index(of space: URLProtectionSpace, _ site: AuthenticationSite) -> Int? {
        entries[site]?.firstIndex { $0.space.isRealm(of: space) }
    }

    private func isCurrent(_ entry: Entry, _ site: AuthenticationSite) -> Bool {
        let stored = entry.credential.user.flatMap { storage?.credentials(for: entry.space)?[$0] }
        if stored == entry.credential { return true }
        forget(entry.credential, in: entry.space, at: site)
        return false
    }
}
