import Foundation

/// The server to which routes are looked for.
package struct ProxyTarget: Hashable, Sendable {
    /// The scheme whose rules apply. A connection for another protocol uses the rules of `https`, which are those of
    /// tunnels.
    package enum Scheme: String, Sendable, CaseIterable {
        case http, https, ftp
    }

    package let scheme: Scheme
    /// A lowercase name or an address, without brackets.
    package let host: String
    package let port: UInt16

    package init(_ scheme: Scheme, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// The URL for the resolver; nil if the host cannot be part of a URL. A zone is not allowed in it (RFC 6874 §4).
    var url: URL? {
        let isAddress = host.utf8.contains(UInt8(ascii: ":"))
        let authority = isAddress ? "[\(host.prefix { $0 != "%" })]" : host
        return URL(string: "\(scheme.rawValue)://\(authority):\(port)")
    }
}
