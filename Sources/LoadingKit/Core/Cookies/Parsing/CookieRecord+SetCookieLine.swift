import Foundation

extension CookieRecord {
    /// The cookie of a `Set-Cookie` line in a response for `url`. Whether the server may set it is not checked here:
    /// see ``CookieAcceptance``.
    ///
    /// Nil when the URL has no host, when the domain is not valid, or when the cookie is not what its name's prefix
    /// requires.
    init?(_ line: SetCookieLine, from url: URL, now: Date) {
        guard let host = CookieHost.host(of: url) else { return nil }
        let domain = line.domain.flatMap { $0.isEmpty ? nil : $0 }
        // Domains are ASCII in the field (§5.7 step 6).
        guard domain.map(CookieHost.isPlain) != false else { return nil }
        // `__Host-` requires the attribute, even where the default path is `/`.
        if line.name.hasASCIIPrefix("__host-"), line.path == nil { return nil }
        self.init(
            identity: Identity(
                name: line.name, domain: domain ?? host, isHostOnly: domain.map(CookieHost.isAddress) ?? true,
                path: line.path ?? CookiePath.defaultPath(for: url)),
            value: line.value, creation: now)
        expires = line.maximumAge.map { Self.end(after: $0, from: now) } ?? line.expires
        isSecure = line.isSecure
        isHTTPOnly = line.isHTTPOnly
        sameSite = line.sameSite
        guard isValidForNamePrefix else { return nil }
    }

    /// The time at which a cookie with this `Max-Age` ends. Zero and less give the earliest time, so that it ends at
    /// once (RFC 6265bis §5.6.2).
    static func end(after seconds: Int, from now: Date) -> Date {
        seconds > 0 ? now.addingTimeInterval(Double(seconds)) : .distantPast
    }
}
