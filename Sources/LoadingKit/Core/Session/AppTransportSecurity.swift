import Foundation

/// When cleartext `http` may be loaded, after Apple's App Transport Security.
///
/// By default it may be loaded from this machine, from private addresses, from `.local` names and from unqualified
/// names; every other host needs `https`, an entry in ``exceptionDomains``, or ``allowsArbitraryLoads``. A program's
/// Info.plist (`NSAppTransportSecurity`) is read for the default.
public struct AppTransportSecurity: Sendable, Hashable {
    /// Whether cleartext may be loaded from any host. Default false.
    public var allowsArbitraryLoads = false

    /// Domains from which cleartext may be loaded; each covers its subdomains.
    public var exceptionDomains: Set<String> = []

    /// The default policy: local hosts alone.
    public init(allowsArbitraryLoads: Bool = false, exceptionDomains: Set<String> = []) {
        self.allowsArbitraryLoads = allowsArbitraryLoads
        self.exceptionDomains = exceptionDomains
    }

    /// What the running program's Info.plist says.
    static let ofMainBundle = AppTransportSecurity(infoDictionary: Bundle.main.infoDictionary ?? [:])

    init(infoDictionary: [String: Any]) {
        guard let ats = infoDictionary["NSAppTransportSecurity"] as? [String: Any] else { return }
        allowsArbitraryLoads = ats["NSAllowsArbitraryLoads"] as? Bool ?? false
        for (domain, value) in ats["NSExceptionDomains"] as? [String: Any] ?? [:] {
            let rule = value as? [String: Any]
            if rule?["NSExceptionAllowsInsecureHTTPLoads"] as? Bool == true { exceptionDomains.insert(domain) }
        }
    }

    /// Whether cleartext may be loaded from `host` (a name, or an address without brackets).
    package func allowsCleartext(to host: String) -> Bool {
        if allowsArbitraryLoads || LocalHost.isLocal(host) { return true }
        let host = host.lowercased()
        return exceptionDomains.contains { domain in
            let domain = domain.lowercased()
            return host == domain || host.hasSuffix("." + domain)
        }
    }
}
