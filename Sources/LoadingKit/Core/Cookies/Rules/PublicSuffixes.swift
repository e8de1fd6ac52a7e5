import CLoadingKitPSL

/// Which domains anyone can register a name under, such as `com`, `co.uk` and `github.io` (publicsuffix.org).
enum PublicSuffixes {
    // The system's list, or libpsl's own where that is newer. It does not change after it is loaded.
    nonisolated(unsafe) private static let list: OpaquePointer? = psl_latest(nil) ?? psl_builtin()

    /// The part of a host that its owner registered: `example.co.uk` of `www.example.co.uk`.
    ///
    /// Nil for addresses, for public suffixes themselves, and for names of one label, which cannot be registered.
    static func registrableDomain(of host: String) -> String? {
        guard !CookieHost.isAddress(host) else { return nil }
        // The list has no names that end with the root's dot. Such a name is a host of its own, with the same suffix.
        guard host.utf8.last != UInt8(ascii: ".") else {
            return host.utf8.count == 1 ? nil : registrableDomain(of: String(host.dropLast())).map { $0 + "." }
        }
        return host.withCString { psl_registrable_domain(list, $0).map { String(cString: $0) } }
    }

    /// Whether the list itself contains the domain. The rule that every top-level domain is a public suffix does not
    /// count.
    static func isListed(_ domain: String) -> Bool {
        domain.withCString { psl_is_public_suffix2(list, $0, PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) == 1 }
    }

    /// The registrable domain, or the host itself where it has none. Hosts can share cookies only within one site.
    static func site(of host: String) -> String { registrableDomain(of: host) ?? host }
}
