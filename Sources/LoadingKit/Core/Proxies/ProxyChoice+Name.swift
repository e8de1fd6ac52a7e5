import Foundation

extension ProxyChoice {
    /// Makes a proxy from its name in a URL or an environment variable: `[scheme://][user:password@]host[:port]`.
    ///
    /// The schemes are `http`, `https`, `socks4` or `socks4a`, and `socks`, `socks5` or `socks5h`; the default is
    /// `http`. Without a port, the usual port applies (``init(_:host:port:user:password:)``). Text after the host and
    /// the port is ignored. Nil where the text is not such a name.
    public init?(_ name: String) { self.init(name, usualPort: 0) }

    /// - Parameter usualPort: the default port of a proxy without TLS; 0 for the usual one.
    package init?(_ name: String, usualPort: UInt16) {
        let parts = name.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard let last = parts.last, let kind = Kind(scheme: parts.count > 1 ? parts[0].lowercased() : "http") else {
            return nil
        }
        var rest = last.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var (user, password): (String?, String?)
        if let at = rest.lastIndex(of: "@") {
            (user, password) = Self.credential(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        guard let (host, port) = Self.hostAndPort(rest) else { return nil }
        self.init(
            kind, host: host, port: port ?? (kind.isSecure ? 0 : usualPort), user: user, password: password)
    }

    private static func credential(_ userInfo: Substring) -> (user: String, password: String) {
        // By scalars: a colon forms one character with a combining mark behind it.
        let scalars = userInfo.unicodeScalars
        let parts = scalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { part in
            String(part).removingPercentEncoding ?? String(part)
        }
        return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    }

    /// The port is nil where the text has none.
    private static func hostAndPort(_ text: Substring) -> (String, UInt16?)? {
        let host: Substring
        if text.first == "[" {
            guard let bracket = text.firstIndex(of: "]") else { return nil }
            host = text[...bracket]
        } else {
            host = text.prefix { $0 != ":" }
        }
        guard !host.isEmpty, host != "[]", host.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f })
        else {
            return nil
        }
        var rest = text[host.endIndex...]
        guard let colon = rest.popFirst() else { return (String(host), nil) }
        guard colon == ":", rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(rest), port > 0
        else {
            return nil
        }
        return (String(host), port)
    }
}
