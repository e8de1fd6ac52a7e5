/// How a connection is secured. Each handshake of the library has a decider.
package struct TLSDemand {
    package let context: TLSContext
    /// It is verified, and sent where it is not a literal address.
    package let serverName: String
    let decider: any TLSDecider

    package init(_ context: TLSContext, _ serverName: String, asking decider: any TLSDecider) {
        self.context = context
        self.serverName = serverName
        self.decider = decider
    }
}

/// Decides in a TLS handshake what OpenSSL cannot know. Used on the loop.
///
/// It is asked in every handshake, but for those that belong to an earlier one (``family``). The handshake waits for each
/// answer: no byte of the application's is sent before. An answer may be given during the call; a second one is not heeded.
package protocol TLSDecider: AnyObject {
    /// What connections have in common that may continue each other's TLS sessions, besides the server: whose decisions hold
    /// for them, and by which proxy they go.
    var partition: String { get }

    /// The connections for which one decision holds; nil where each is decided about.
    var family: TLSFamily? { get }

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
    /// It is not the server that was decided about before.
    case refuseOther
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
