/// How TLS is to be done.
package struct TLSOptions: Sendable, Hashable {
    package enum TrustRoots: Sendable, Hashable {
        case system
        case file(String)
        case pem([UInt8])
    }

    /// On the wire: 0x0303 is TLS 1.2.
    package var minimumVersion: UInt16 = 0x0303
    package var maximumVersion: UInt16 = 0x0304
    package var verifiesPeer = true
    package var trustRoots = TrustRoots.system
    /// What ALPN offers, the preferred first.
    package var alpn: [String] = []

    package init() {}
}
