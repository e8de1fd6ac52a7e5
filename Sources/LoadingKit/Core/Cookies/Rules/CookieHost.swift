import Foundation
import LoadingKitTransport

/// Hosts as cookies compare them (RFC 6265bis §5.1.2, §5.1.3).
enum CookieHost {
    /// A URL's host in its canonical form: in lower case and in ASCII, an address as the system writes it. It does not
    /// use `host(percentEncoded: true)`, which gives other characters than ASCII.
    static func host(of url: URL) -> String? {
        guard let host = url.host(percentEncoded: false), !host.isEmpty else { return nil }
        return IPAddress.canonical(host.asciiLowercased)
    }

    /// The canonical form of a domain that a program gave; nil when it cannot be a host. The domain has no leading dot.
    static func canonical(_ domain: String) -> String? {
        // A domain in another script becomes ASCII in the same way as the host of a URL, so that they can be compared.
        if isPlain(domain) { return IPAddress.canonical(domain.asciiLowercased) }
        return URL(string: "http://\(domain)/").flatMap { $0.path == "/" ? host(of: $0) : nil }
    }

    /// Whether a domain is ASCII, without characters that cannot be in a host or in a `Set-Cookie` field.
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
