import Foundation

extension URLSessionConfiguration {
    /// Lists of revoked certificates (CRLs, RFC 5280 §5). Default: none.
    ///
    /// Each server's and proxy's certificate, and the authorities above it, are looked up in the lists of those who issued
    /// them. A certificate that is in one is not trusted, and the load fails with `URLError.serverCertificateUntrusted`.
    ///
    /// - The list of an authority has to be valid: signed by it, and neither from the future nor out of date. Else no
    ///   certificate that the authority issued is trusted. A program has to load lists anew before they expire, and to make a
    ///   session with them.
    /// - Certificates of authorities that there is no list of are not looked up.
    /// - Delta lists, lists of several authorities (indirect), and lists of some reasons alone cannot be used. With one of
    ///   these, or with a file that cannot be read, no connection is made: `URLError.cannotConnectToHost`.
    ///
    /// Files are read when the session is made, and not again. They have 64 MiB at most.
    public var tlsRevocationLists: [RevocationList] {
        get { settings.revocationLists }
        set { settings.revocationLists = newValue }
    }

    /// A list of revoked certificates, or several.
    public enum RevocationList: Sendable, Hashable {
        /// A file with lists in PEM, or one in DER.
        case file(path: String)
        /// Lists in PEM.
        case pem(String)
        /// A list in DER.
        case der(Data)
    }
}
