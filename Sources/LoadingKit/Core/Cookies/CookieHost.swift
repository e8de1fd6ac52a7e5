import Foundation
import LoadingKitTransport

/// Hosts as cookies compare them (RFC 6265bis §5.1.2, §5.1.3).
enum CookieHost {
    /// A URL's host in its canonical form: lower case, in ASCII (which `host(percentEncoded: true)` would undo), an
    /// address as the system writes it.
    static func host(of url: URL) -> String? {
        guard let host = url.host(percentEncoded: false), !host.isEmpty else { return nil }
        return IPAddress.canonical(host.asciiLowercased)
    }

    /// The canonical form of a domain that a program gave, without a dot before it; nil when it cannot be a host.
    static func canonical(_ domain: String) -> String? {
        // Other scripts become ASCII as they do in URLs, so that both are the same.
        if isPlain(domain) { return IPAddress.canonical(domain.asciiLowercased) }
        return URL(string: "http://\(domain)/").flatMap { $0.path == "/" ? host(of: $0) : nil }
    }

    /// Whether a domain is ASCII without what cannot be in a host, nor in a `Set-Cookie` field.
    static func isPlain(_ domain: String) -> Bool {
        !domain.isEmpty && domain.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/;=,?#@\"".utf8.contains($0) }
    }

    /// Whether `host` is `domain` or one of its subdomains. An address has none.
    static func matches(_ host: String, domain: String) -> Bool {
        if host == domain { return true }
        guard host.utf8.count > domain.utf8.count, host.utf8.reversed().starts(with: domain.utf8.reversed()) else {
            return false
        }
        let dot = host.utf8.index(host.utf8.endIndex, offsetBy: -(domain.utf8.count + 1))
        return host.utf8[dot] == UInt8(ascii: ".") && !isAddress(host)
    }

    /// Whether the host is an IP address.
    static func isAddress(_ host: String) -> Bool { IPAddress(withoutZone: host) != nil }
}
