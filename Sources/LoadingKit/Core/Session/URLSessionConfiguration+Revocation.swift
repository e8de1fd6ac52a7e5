extension URLSessionConfiguration {
    /// Lists of revoked certificates (CRLs, RFC 5280 §5). Default: none.
    ///
    /// Each certificate of a server or proxy, and the authorities above it, are looked up in the lists of their
    /// issuers. A listed certificate is not trusted, and the load fails with `URLError.serverCertificateUntrusted`.
    ///
    /// - The list of an authority must be valid: signed by the authority, and neither from the future nor expired.
    ///   Otherwise no certificate that the authority issued is trusted. Lists must be renewed before they expire.
    /// - Certificates of authorities without a list are not looked up.
    /// - Delta lists, lists of several authorities (indirect), and lists for only some reasons cannot be used. With one
    ///   of these, or with a file that cannot be read, no connection is made: `URLError.cannotConnectToHost`.
    ///
    /// Files are read when the session is made, and again when they have changed; see <doc:TrustAndIdentity>. A file may
    /// have at most 64 MiB.
    public var tlsRevocationLists: [RevocationList] {
        get { settings.revocationLists }
        set { settings.revocationLists = newValue }
    }

    /// One or more lists of revoked certificates.
    public typealias RevocationList = TLSRevocationList
}
