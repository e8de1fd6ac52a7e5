import Foundation
import LoadingKitTransport

/// Detects hosts on this machine or in its local network: cleartext to them does not cross a public network.
enum LocalHost {
    static func isLocal(_ host: String) -> Bool {
        if let address = IPAddress(withoutZone: host) { return address.isLocal }
        let name = canonical(host)
        return isUnqualified(name) || name.hasSuffix(".local") || name.hasSuffix(".localhost")
    }

    /// Whether a name has no domain, which places it in this machine's network. A number does not count, because a
    /// proxy may interpret it as an address. A name in another script does not count either, because it may contain
    /// that script's dots.
    private static func isUnqualified(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: ".") } && !IPAddress.endsInNumber(name)
    }

    /// Whether a host is this machine's loopback address.
    static func isThisMachine(_ host: String) -> Bool {
        if let address = IPAddress(withoutZone: host) { return address.isLoopback }
        let name = canonical(host)
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// A host in lower case and without the root's dot; an address in the system's form.
    static func canonical(_ host: String) -> String {
        IPAddress.canonical((host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased())
    }
}

/// The domains of rules that a program or its user has written.
package enum RuleDomain {
    /// A domain in the form of a URL's host, with which it is compared: as ``LocalHost/canonical(_:)``, and a name in
    /// another script in ASCII. A rule would otherwise have no effect. A domain that no URL can have stays as it is.
    package static func canonical(_ domain: String) -> String {
        guard domain.utf8.contains(where: { $0 >= 0x80 }) else { return LocalHost.canonical(domain) }
        let name = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        return LocalHost.canonical(CookieHost.canonical(name) ?? name)
    }
}

/// The host of a URL.
package enum URLHost {
    /// A host without escapes in lower case, and in ASCII: `URL` leaves a name in another script as it is where its bytes
    /// are escaped. The root's dot stays: a name with it is a host of its own.
    package static func canonical(_ host: String) -> String {
        guard host.utf8.contains(where: { $0 >= 0x80 }) else { return host.asciiLowercased }
        return (CookieHost.canonical(host) ?? host).lowercased()
    }
}

extension URL {
    /// The host as sessions send and compare it: without escapes, in lower case and in ASCII. Nil if the URL has none.
    @_spi(LoadingKitPlugins)
    public var canonicalHost: String? { host(percentEncoded: false).map { URLHost.canonical($0) } }
}

extension IPAddress {
    var isLoopback: Bool {
        if let mappedV4 { return mappedV4.isLoopback }
        let bytes = bytes
        return bytes.count == 4 ? bytes.first == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    var isLocal: Bool {
        if let mappedV4 { return mappedV4.isLocal }
        return isLoopback || isLinkLocal || isPrivate
    }

    /// 10.0.0.0/8, 172.16.0.0/12 and 192.168.0.0/16 (RFC 1918), and fc00::/7 (RFC 4193).
    private var isPrivate: Bool {
        switch self {
        case .v4(let bits): bits >> 24 == 10 || bits >> 20 == 0xAC1 || bits >> 16 == 0xC0A8
        case .v6(let high, _, _): high >> 57 == 0xFC >> 1
        }
    }
}
