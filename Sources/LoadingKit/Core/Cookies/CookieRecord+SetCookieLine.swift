import Foundation

extension CookieRecord {
    /// The cookie that a line of a response for `url` makes, before it is asked whether that server may set it.
    ///
    /// Nil when there is nothing that it could be for, or when it breaks what its name promises.
    init?(_ line: SetCookieLine, from url: URL, now: Date) {
        guard let host = CookieHost.host(of: url) else { return nil }
        let domain = line.domain.flatMap { $0.isEmpty ? nil : $0 }
        // Domains go over the wire in ASCII (§5.7 step 6).
        guard domain.map(CookieHost.isPlain) != false else { return nil }
        // The default path may be `/` too, but `__Host-` wants it said.
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
        guard keepsPromisesOfName else { return nil }
    }

    /// Zero and less end it at once: the earliest time there is (RFC 6265bis §5.6.2).
    static func end(after seconds: Int, from now: Date) -> Date {
        seconds > 0 ? now.addingTimeInterval(Double(seconds)) : .distantPast
    }
}
