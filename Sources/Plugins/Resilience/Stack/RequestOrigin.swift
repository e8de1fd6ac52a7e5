import Foundation

/// Scheme, host and port of a URL (RFC 6454 §4): what limits, breakers and tokens are kept for.
public struct RequestOrigin: Sendable, Hashable, CustomStringConvertible {
    /// In lower case.
    public let scheme: String
    /// In lower case; without the brackets of an IPv6 address, and without the dot after a full name.
    public let host: String
    /// The scheme's own where the URL names none; 0 for a scheme that has none.
    public let port: Int

    /// The origin of a URL; nil for a URL without scheme or host.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), var host = url.host?.lowercased(), !host.isEmpty else {
            return nil
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.count > 1, host.hasSuffix(".") { host.removeLast() }
        self.scheme = scheme
        self.host = host
        let standard = ["http": 80, "ws": 80, "https": 443, "wss": 443]
        port = url.port ?? standard[scheme] ?? 0
    }

    /// The origin of a text such as `https://api.example.org`; nil where it is no such URL.
    public init?(_ text: String) {
        guard let url = URL(string: text) else { return nil }
        self.init(url)
    }

    /// As in a URL.
    public var description: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
