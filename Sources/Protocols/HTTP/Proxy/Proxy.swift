import Foundation

/// A server through which connections to other servers are made.
struct Proxy: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// An HTTP proxy (RFC 9110 §3.7): `http` requests are sent in absolute form, everything else in a tunnel.
        case http
        /// An HTTP proxy that is reached over TLS.
        case https
        /// SOCKS 4A: the proxy resolves names.
        case socks4
        /// SOCKS 5 (RFC 1928): the proxy resolves names.
        case socks5
    }

    struct Credential: Hashable, Sendable {
        let user: String
        let password: String
    }

    let kind: Kind
    /// A name or an address, without brackets.
    let host: String
    let port: UInt16
    let credential: Credential?

    /// The proxy for messages, without its credential.
    var description: String { "\(scheme)://\(endpoint)" }

    private var scheme: String {
        switch kind {
        case .http: "http"
        case .https: "https"
        case .socks4: "socks4a"
        case .socks5: "socks5h"
        }
    }
}

extension Proxy {
    /// A proxy in the form of curl's variables: `[scheme://][user:password@]host[:port]`. The default scheme is `http`,
    /// the default port 1080, or 443 for `https`. Nil where the text is no such name.
    init?(_ text: String) {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard let last = parts.last else { return nil }
        let scheme = parts.count > 1 ? parts[0].lowercased() : "http"
        guard let kind = Kind(scheme: scheme) else { return nil }
        // What follows the authority has no meaning.
        var rest = last.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        var credential: Credential?
        if let at = rest.lastIndex(of: "@") {
            credential = Credential(userInfo: rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        guard let (host, port) = Self.hostAndPort(rest, standard: kind == .https ? 443 : 1080) else { return nil }
        self.init(kind: kind, host: host, port: port, credential: credential)
    }

    private static func hostAndPort(_ text: Substring, standard: UInt16) -> (String, UInt16)? {
        let host: Substring
        var rest: Substring
        if text.first == "[" {
            guard let bracket = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<bracket]
            rest = text[text.index(after: bracket)...]
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
        }
        guard !host.isEmpty else { return nil }
        guard rest.popFirst() != nil else { return (host.lowercased(), standard) }
        guard let port = UInt16(rest), port > 0 else { return nil }
        return (host.lowercased(), port)
    }
}

extension Proxy.Kind {
    fileprivate init?(scheme: String) {
        switch scheme {
        case "http": self = .http
        case "https": self = .https
        case "socks4", "socks4a": self = .socks4
        case "socks", "socks5", "socks5h": self = .socks5
        case _: return nil
        }
    }
}

extension Proxy.Credential {
    fileprivate init(userInfo: Substring) {
        let parts = userInfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { part in
            part.removingPercentEncoding ?? String(part)
        }
        self.init(user: parts.first ?? "", password: parts.count > 1 ? parts[1] : "")
    }
}
