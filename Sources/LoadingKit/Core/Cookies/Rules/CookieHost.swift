import CLoadingKitPSL
import Foundation
import LoadingKitTransport

/// Hosts in the form in which cookies compare them (RFC 6265bis §5.1.2, §5.1.3).
enum CookieHost {
    /// A URL's host in its canonical form: in lower case and in ASCII, an address in the system's form. It does not use
    /// `host(percentEncoded: true)`, which returns other characters than ASCII.
    static func host(of url: URL) -> String? { decodedHost(of: url).map { URLHost.canonical($0) } }

    /// As ``host(of:)``, but not always in ASCII: `URL` keeps escaped letters of another script.
    private static func decodedHost(of url: URL) -> String? {
        guard let host = url.host(percentEncoded: false), !host.isEmpty else { return nil }
        return IPAddress.canonical(host.asciiLowercased)
    }

    /// The canonical form of a domain from a program; nil when it cannot be a host. The domain has no leading dot.
    static func canonical(_ domain: String) -> String? {
        // A domain in another script becomes ASCII in the same way as the host of a URL, so that they can be compared.
        if isPlain(domain) { return IPAddress.canonical(domain.asciiLowercased) }
        // With one of these, the host of a URL would be another domain.
        guard !domain.utf8.contains(where: { ":@/?#[]".utf8.contains($0) }) else { return nil }
        return URL(string: "http://\(domain)/").flatMap { decodedHost(of: $0) }
    }

    /// Whether a domain is ASCII, without characters that cannot be in a host or in a `Set-Cookie` field.
    static func isPlain(_ domain: String) -> Bool {
        !domain.isEmpty && domain.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/;=,?#@\"".utf8.contains($0) }
    }

    /// Whether `host` is `domain` or one of its subdomains. An address has no subdomains.
    static func matches(_ host: String, domain: String) -> Bool {
        if host == domain { return true }
        guard host.utf8.count > domain.utf8.count, host.utf8.reversed().starts(with: domain.utf8.reversed()) else {
            return false
        }
        let dot = host.utf8.index(host.utf8.endIndex, offsetBy: -(domain.utf8.count + 1))
        return host.utf8[dot] == UInt8(ascii: ".") && !isAddress(host)
    }

    static func isAddress(_ host: String) -> Bool { IPAddress(withoutZone: host) != nil }
}

/// A site in the meaning of `SameSite`: a scheme and a registrable domain (RFC 6265bis §5.2).
struct CookieSite: Hashable {
    private let scheme: String
    private let domain: String

    init(_ url: URL) {
        // `ws` and `http` are the same site, and so are `wss` and `https`: a page's WebSockets belong to its site.
        switch url.scheme?.asciiLowercased {
        case "ws": scheme = "http"
        case "wss": scheme = "https"
        case let other: scheme = other ?? ""
        }
        domain = CookieHost.host(of: url).map { PublicSuffixes.site(of: $0) } ?? ""
    }

    /// Whether both have the same domain, regardless of their schemes.
    func hasSameDomain(as other: CookieSite) -> Bool { domain == other.domain }
}

extension URL {
    /// Whether the connection to the URL's server is encrypted, so that `Secure` cookies may be sent and set.
    package var isSecureForCookies: Bool {
        scheme?.equalsIgnoringASCIICase("https") == true || scheme?.equalsIgnoringASCIICase("wss") == true
    }
}

/// The domains under which anyone can register a name, such as `com`, `co.uk` and `github.io` (publicsuffix.org).
enum PublicSuffixes {
    // The system's list, or libpsl's own where that is newer. The list does not change after it is loaded.
    nonisolated(unsafe) private static let list: OpaquePointer? = psl_latest(nil) ?? psl_builtin()

    /// The part of a host that its owner registered: `example.co.uk` of `www.example.co.uk`.
    ///
    /// Nil for addresses, for public suffixes themselves, and for names of one label, which cannot be registered.
    static func registrableDomain(of host: String) -> String? {
        guard !CookieHost.isAddress(host) else { return nil }
        // The list has no names with the root's trailing dot. Such a name is a host of its own, with the same suffix.
        guard host.utf8.last != UInt8(ascii: ".") else {
            guard let last = host.utf8.lastIndex(where: { $0 != UInt8(ascii: ".") }) else { return nil }
            let end = host.utf8.index(after: last)
            return registrableDomain(of: String(host[..<end])).map { $0 + String(host[end...]) }
        }
        return host.withCString { psl_registrable_domain(list, $0).map { String(cString: $0) } }
    }

    /// Whether the list itself contains the domain. The rule that every top-level domain is a public suffix is not
    /// applied.
    static func isListed(_ domain: String) -> Bool {
        domain.withCString { psl_is_public_suffix2(list, $0, PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) == 1 }
    }

    /// The registrable domain, or the host itself where it has none. Hosts can share cookies only within one site.
    static func site(of host: String) -> String { registrableDomain(of: host) ?? host }
}

/// Paths in the form in which cookies compare them (RFC 6265bis §5.1.4): percent-encoded characters are not decoded.
enum CookiePath {
    static func path(of url: URL) -> String {
        let path = url.absoluteURL.path(percentEncoded: true)
        return path.utf8.first == UInt8(ascii: "/") ? path : "/"
    }

    /// The path of a cookie for which the server gave none: the URL's path up to its last slash. Nil where it is longer
    /// than the limit of the attribute `Path`.
    static func defaultPath(for url: URL) -> String? {
        let path = path(of: url).utf8
        guard let last = path.lastIndex(of: UInt8(ascii: "/")), last > path.startIndex else { return "/" }
        let folder = path[..<last]
        guard folder.count <= SetCookieLine.longestAttribute else { return nil }
        return String(Substring(folder))
    }

    /// Whether a cookie with the path `cookie` is sent with a request for `path`.
    static func matches(_ path: String, cookie: String) -> Bool {
        let (path, cookie) = (path.utf8, cookie.utf8)
        guard path.starts(with: cookie) else { return false }
        return path.count == cookie.count || cookie.last == UInt8(ascii: "/")
            || path.dropFirst(cookie.count).first == UInt8(ascii: "/")
    }
}
