import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The credentials that servers and proxies have accepted in a session. A request within a protection space is sent
/// with the accepted one, which saves a challenge (RFC 7617 §2.2, RFC 7616 §3.6). It counts only while the credential
/// storage has it, too.
///
/// A credential in a URL is neither stored nor sent with a request whose URL does not contain it.
final class AuthenticationMemory {
    /// The most folders of a protection space. The oldest are forgotten, and require a challenge again.
    static let maximumPaths = 100
    /// The limit for a folder's length in bytes. Requests in a longer one require a challenge each.
    static let longestPath = 1024
    /// The most credentials of a server or a proxy. The oldest are forgotten.
    private static let maximumEntries = 100
    /// The most servers and proxies whose credentials are known. Beyond it another is forgotten, and requires a
    /// challenge again.
    static let maximumSites = 1000
    /// The most origins whose connections' identities are known. Beyond it they are unknown for all origins.
    static let maximumOrigins = 10_000

    private struct Entry {
        let space: URLProtectionSpace
        let credential: URLCredential
        var scheme: any HTTPAuthenticationScheme
        var paths: [String]
        let channelBinding: Data?
        let isOfURL: Bool

        /// - Parameter named: the credential in the request's URL.
        func suits(_ named: URLCredential?) -> Bool {
            if let named { credential.hasSameUserAndPassword(as: named) } else { !isOfURL }
        }

        func isLike(_ other: Entry) -> Bool {
            guard space.isSameRealm(as: other.space), isOfURL == other.isOfURL else { return false }
            return !isOfURL || credential.hasSameUserAndPassword(as: other.credential)
        }
    }

    struct Known {
        let offer: AuthenticationOffer
        let credential: URLCredential
        let channelBinding: Data?
        let isOfURL: Bool
    }

    enum ConnectionIdentity: Equatable {
        /// A digest of the certificate, or of the credential.
        case one(Data)
        /// The identity that a response was for is unknown.
        case several
    }

    private let storage: URLCredentialStorage?
    private var entries: [AuthenticationSite: [Entry]] = [:]
    /// For certificates and schemes that bind to a connection. Kept for the session's life, as connections may be open.
    private var connections: [Origin: ConnectionIdentity] = [:]
    /// Whether there were more origins than are kept. An identity that comes later is not known to be the only one.
    private var hasForgottenOrigins = false
    /// Called when a credential is no longer current that has authenticated connections to the server or the proxy.
    var connectionUserDidGo: ((AuthenticationSite) -> Void)?

    init(_ storage: URLCredentialStorage?) { self.storage = storage }

    func knows(_ site: AuthenticationSite) -> Bool { !entries.isEmpty && entries[site] != nil }
    func reset() { entries = [:] }

    var isEmpty: Bool { entries.isEmpty && connections.isEmpty && !hasForgottenOrigins }

    // MARK: Connections

    func connectionIdentity(at origin: Origin) -> ConnectionIdentity? {
        if hasForgottenOrigins { return .several }
        return connections.isEmpty ? nil : connections[origin]
    }

    func willAuthenticateConnection(to origin: Origin, as identity: TLSIdentity) {
        note(identity.certificate.der, origin)
    }

    /// - Parameter isOfURL: whether the credential is for requests whose URLs contain it, which use connections of
    ///   their own.
    func willAuthenticateConnection(to site: AuthenticationSite, as credential: URLCredential, isOfURL: Bool) {
        guard case .server(let origin) = site else { return }
        guard !isOfURL else { return set(.several, origin) }
        note(Array("\(credential.user ?? "")\n\(credential.password ?? "")".utf8), origin)
    }

    private func note(_ identity: [UInt8], _ origin: Origin) {
        guard let digest = MessageDigest.sha256.hash(identity).map({ Data($0) }) else { return set(.several, origin) }
        switch connections[origin] {
        case nil: set(.one(digest), origin)
        case .one(digest)?, .several?: break
        case .one?: set(.several, origin)
        }
    }

    private func set(_ identity: ConnectionIdentity, _ origin: Origin) {
        guard !hasForgottenOrigins else { return }
        connections[origin] = identity
        guard connections.count > Self.maximumOrigins else { return }
        connections = [:]
        hasForgottenOrigins = true
    }

    // MARK: Protection spaces

    /// The credential that is remembered for a target: the one with the longest path that is a prefix of the target.
    func credential(forTarget target: String, at site: AuthenticationSite, named: URLCredential?) -> Known? {
        // Requests on the connections that these credentials have authenticated are sent without them.
        for entry in entries[site] ?? [] where type(of: entry.scheme).bindsToConnection { forgetIfGone(entry, site) }
        // Bytes, not characters: there may be thousands of paths, which are compared for each request.
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        var best: (entry: Entry, length: Int)?
        for entry in entries[site] ?? [] where entry.suits(named) {
            for known in entry.paths where known.utf8.count > best?.length ?? -1 && path.starts(with: known.utf8) {
                best = (entry, known.utf8.count)
            }
        }
        guard let entry = best?.entry, !forgetIfGone(entry, site) else { return nil }
        let challenge = HTTPAuthenticationChallenge(scheme: type(of: entry.scheme).name)
        let offer = AuthenticationOffer(challenge: challenge, scheme: entry.scheme, space: entry.space)
        return Known(
            offer: offer, credential: entry.credential, channelBinding: entry.channelBinding, isOfURL: entry.isOfURL)
    }

    /// The credential that was accepted in a protection space.
    func credential(
        for space: URLProtectionSpace, at site: AuthenticationSite, named: URLCredential?
    ) -> URLCredential? {
        guard let entry = entries[site]?.first(where: { $0.space.isSameRealm(as: space) && $0.suits(named) }),
            !forgetIfGone(entry, site)
        else { return nil }
        return entry.credential
    }

    /// The value of the field, and the scheme that made it. Each use of a nonce is counted here. Nil if another
    /// credential has replaced this one.
    func authorization(
        for request: HTTPAuthenticationRequest, with credential: URLCredential, in space: URLProtectionSpace,
        at site: AuthenticationSite
    ) -> (value: String, scheme: any HTTPAuthenticationScheme)? {
        guard
            let index = entries[site]?.firstIndex(where: {
                $0.space.isSameRealm(as: space) && $0.credential == credential
            }),
            let value = entries[site]?[index].scheme.authorization(for: request, with: credential),
            let scheme = entries[site]?[index].scheme
        else { return nil }
        return (value, scheme)
    }

    /// Remembers an accepted credential, unless it is for one request only or the session has no credential storage.
    func remember(
        _ scheme: any HTTPAuthenticationScheme, _ credential: URLCredential, for target: String,
        in space: URLProtectionSpace, at site: AuthenticationSite, channelBinding: Data? = nil, isOfURL: Bool = false
    ) {
        guard storage != nil, credential.persistence != .none else { return }
        var entry = Entry(
            space: space, credential: credential, scheme: scheme, paths: [], channelBinding: channelBinding,
            isOfURL: isOfURL)
        var known = entries[site] ?? []
        if let index = known.firstIndex(where: entry.isLike) { entry.paths = known.remove(at: index).paths }
        let paths = Self.paths(scheme, around: String(target.prefix { $0 != "?" }), at: site)
        for path in paths.prefix(Self.maximumPaths) where path.utf8.count <= Self.longestPath {
            if entry.paths.contains(where: { path.utf8.starts(with: $0.utf8) }) { continue }
            entry.paths.append(path)
        }
        entry.paths = entry.paths.suffix(Self.maximumPaths)
        known.append(entry)
        entries.set(known.suffix(Self.maximumEntries), for: site, limit: Self.maximumSites)
    }

    /// A proxy's protection space contains all requests through it, if the scheme allows a credential before a
    /// challenge.
    private static func paths(
        _ scheme: any HTTPAuthenticationScheme, around path: String, at site: AuthenticationSite
    ) -> [String] {
        guard site.isProxy else { return scheme.paths(around: path) }
        return scheme.paths(around: "/").isEmpty ? [] : [""]
    }

    func forget(_ credential: URLCredential, in space: URLProtectionSpace, at site: AuthenticationSite) {
        entries[site]?.removeAll { $0.space.isSameRealm(as: space) && $0.credential == credential }
        if entries[site]?.isEmpty == true { entries[site] = nil }
    }

    /// Forgets a credential that the program has removed or replaced. Returns whether it is gone.
    @discardableResult
    private func forgetIfGone(_ entry: Entry, _ site: AuthenticationSite) -> Bool {
        // The storage does not contain a URL's credential, nor the scheme's own.
        if entry.isOfURL { return false }
        let ownCredential = type(of: entry.scheme).defaultCredential
        if ownCredential?.hasSameUserAndPassword(as: entry.credential) == true { return false }
        let stored = entry.credential.user.flatMap { storage?.credentials(for: entry.space)?[$0] }
        if stored == entry.credential { return false }
        forget(entry.credential, in: entry.space, at: site)
        if type(of: entry.scheme).bindsToConnection {
            // Responses that are on their way are still for the former user.
            if case .server(let origin) = site { set(.several, origin) }
            connectionUserDidGo?(site)
        }
        return true
    }
}
