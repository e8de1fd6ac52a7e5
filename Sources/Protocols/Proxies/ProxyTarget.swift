import Foundation

/// A server that a way is looked for to.
package struct ProxyTarget: Hashable, Sendable {
    /// By whose rules. Connections that carry something else than these go by those of `https`, which are those of tunnels.
    package enum Scheme: String, Sendable, CaseIterable {
        case http, https, ftp
    }

    package let scheme: Scheme
    /// A name, lowercase, or an address, without brackets.
    package let host: String
    package let port: UInt16

    package init(_ scheme: Scheme, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// What a resolver is asked about; nil where the host fits in no URL. A zone has no place there (RFC 6874 §4).
    var url: URL? {
        let isAddress = host.utf8.contains(UInt8(ascii: ":"))
        let authority = isAddress ? "[\(host.prefix { $0 != "%" })]" : host
        return URL(string: "\(scheme.rawValue)://\(authority):\(port)")
    }
}
