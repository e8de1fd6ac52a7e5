import Foundation
@_spi(LoadingKitPlugins) import LoadingKit

/// Scheme, host and port of a URL (RFC 6454 §4): the key for limits, breakers and tokens.
public struct RequestOrigin: Sendable, Hashable, CustomStringConvertible {
    /// In lower case.
    public let scheme: String
    /// In lower case and ASCII; without the brackets of an IPv6 address, and without the trailing dot of a full name.
    public let host: String
    /// The scheme's default where the URL has none; 0 for a scheme without a default.
    public let port: Int

    /// The origin of a URL; nil for a URL without scheme or host.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), var host = url.canonicalHost, !host.isEmpty else {
            return nil
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.count > 1, host.hasSuffix(".") { host.removeLast() }
        self.scheme = scheme
        self.host = host
        let standard = ["http": 80, "ws": 80, "https": 443, "wss": 443]
        port = url.port ?? standard[scheme] ?? 0
    }

    /// The origin of a text such as `https://api.example.org`; nil where the text is not such a URL.
    public init?(_ text: String) {
        guard let url = URL(string: text) else { return nil }
        self.init(url)
    }

    /// The origin in the form of a URL.
    public var description: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
