/// Decides in a TLS handshake what OpenSSL cannot know. Used on the loop.
///
/// The handshake waits for each answer: no byte of the application's is sent before. An answer may be given during the
/// call; a second one is not heeded.
package protocol TLSDecider: AnyObject {
    /// Whether it decides about the server's certificates; else the result of the verification holds.
    var decidesTrust: Bool { get }

    /// The owner of the connection, where not all of a session's loads may use it: TLS sessions of one owner's connections
    /// are not resumed by another owner's. Nil: all loads may use it.
    var partition: ObjectIdentifier? { get }

    /// Names the few connections that resume each other's TLS sessions, and nobody else's: those of one FTP control
    /// connection. They are sure to be of the same server, with the same decisions; so sessions are kept whatever was
    /// decided. Nil, the default, for connections that all loads of the partition may use.
    var ownSessionScope: String? { get }
    /// The proxy that the connection goes through, and as whom; empty where there is none. TLS sessions of one proxy's
    /// connections are not resumed through another.
    var proxyPartition: String { get }

    /// Decides about the server's certificates. On a connection that continues an earlier TLS session they are those of
    /// that session: a decision is never skipped because a session is continued.
    func decide(_ trust: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void)

    /// Chooses what to send to a server that requests the client's certificate.
    ///
    /// - Parameter authorities: the distinguished names of the issuers that the server accepts, in DER; empty: any.
    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void)
}

/// What becomes of a server whose certificates were shown.
package enum TrustDecision: Sendable {
    /// It is trusted, whatever the verification found.
    case trust
    /// What the verification found holds.
    case verdict
    /// It is not trusted, whatever the verification found.
    case refuse
    /// The connection is given up.
    case cancel
}

/// What is sent to a server that requests a client certificate.
package enum IdentityDecision: Sendable {
    case send(TLSIdentity)
    case none
    /// The connection is given up.
    case cancel
}

extension TLSDecider {
    package var partition: ObjectIdentifier? { nil }
    package var ownSessionScope: String? { nil }
    package var proxyPartition: String { "" }
}
