/// The TLS requirements of a connection. Each handshake of the library has a decider.
package struct TLSDemand {
    package let context: TLSContext
    /// The name to verify. It is sent to the server unless it is a literal address.
    package let serverName: String
    let decider: any TLSDecider

    package init(_ context: TLSContext, _ serverName: String, asking decider: any TLSDecider) {
        self.context = context
        self.serverName = serverName
        self.decider = decider
    }
}

/// Makes the decisions in a TLS handshake that OpenSSL cannot make. Used on the loop.
///
/// It is called in every handshake, except in those that belong to an earlier one (``family``). The handshake waits for
/// each answer, and no application data is sent before. An answer may be given during the call; a second answer is
/// ignored.
package protocol TLSDecider: AnyObject {
    /// Identifies the connections that may resume each other's TLS sessions, in addition to the server: by the
    /// decisions that apply to them, and by their proxy.
    var partition: String { get }

    /// The connections to which one decision applies; nil if each connection is decided separately.
    var family: TLSFamily? { get }

    /// Decides about the server's certificates. On a connection that resumes an earlier TLS session they are the
    /// certificates of that session: resumption never skips a decision.
    func decide(_ trust: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void)

    /// Chooses the identity for a server that requests the client's certificate.
    ///
    /// - Parameter authorities: the distinguished names of the issuers that the server accepts, in DER; empty for any.
    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void)
}

/// The decision about a server that has sent its certificates.
package enum TrustDecision: Sendable {
    /// The server is trusted, whatever the result of the verification.
    case trust
    /// The result of the verification applies.
    case verdict
    /// The server is not trusted, whatever the result of the verification.
    case refuse
    /// The server is not the one of an earlier decision.
    case refuseOther
    case cancel
}

/// The decision about a server's request for a client certificate.
package enum IdentityDecision: Sendable {
    case send(TLSIdentity)
    case none
    case cancel
}
