import CLoadingKitPSL

/// Which domains anyone can register a name under, such as `com`, `co.uk` and `github.io` (publicsuffix.org).
enum PublicSuffixes {
    // The list does not change after it is loaded: the system's, or libpsl's own where that is newer.
    nonisolated(unsafe) private static let list: OpaquePointer? = psl_latest(nil) ?? psl_builtin()

    /// The part of a host that its owner registered: `example.co.uk` of `www.example.co.uk`.
    ///
    /// Nil for addresses, for public suffixes themselves, and for names of one label, which no one registers.
    static func registrableDomain(of host: String) -> String? {
        guard !CookieHost.isAddress(host) else { return nil }
        // The list knows no names with the root's dot; they are hosts of their own, alike in all else.
        guard host.utf8.last != UInt8(ascii: ".") else {
            return host.utf8.count == 1 ? nil : registrableDomain(of: String(host.dropLast())).map { $0 + "." }
        }
        return host.withCString { psl_registrable_domain(list, $0).map { String(cString: $0) } }
    }

    /// Whether the list itself has the domain, and not just the rule that every top-level domain is one.
    static func isListed(_ domain: String) -> Bool {
        domain.withCString { psl_is_public_suffix2(list, $0, PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) == 1 }
    }

    /// The registrable domain, or the host itself where it has none: what a host shares with all that it shares cookies
    /// with.
    static func site(of host: String) -> String { registrableDomain(of: host) ?? host }
}
