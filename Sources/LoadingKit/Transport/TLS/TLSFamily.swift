/// The TLS of connections that belong together, such as an FTP control connection and its data connections. Confined to
/// a loop.
///
/// The first handshake is decided. Its decision applies to the other handshakes without a new call of the decider: the
/// server must show the same certificate, and gets the same client certificate. The connections resume only each
/// other's sessions. After the server has resumed one session, it must resume the others: another server with the same
/// certificate could not.
package final class TLSFamily {
    private struct First {
        let certificate: Certificate?
        /// Whether the certificate passed the verification. Otherwise the decider accepted it.
        let isVerified: Bool
    }

    let sessions = TLSSessionStore()
    private var first: First?
    private var identity = IdentityDecision.none
    private var continuesSessions = false

    package init() {}

    /// The earlier decision about a server with this certificate; nil if there was none.
    func decision(about certificate: Certificate?) -> TrustDecision? {
        guard let first else { return nil }
        guard let certificate, certificate == first.certificate else { return .refuseOther }
        return first.isVerified ? .verdict : .trust
    }

    /// The earlier decision about the client's identity; nil if the decider may be called.
    var identityDecision: IdentityDecision? { first == nil ? nil : identity }

    func didChoose(_ identity: IdentityDecision) { if first == nil { self.identity = identity } }

    /// A handshake has ended, with all decisions.
    ///
    /// - Parameter hasOffered: whether a session was offered for resumption.
    /// - Returns: the reason why the connection must still not be used.
    func didEstablish(_ info: TLSInfo, hasOffered: Bool) -> TransportError.Cause? {
        guard first != nil else {
            first = First(certificate: info.peerCertificates.first, isVerified: info.certificateFailure == nil)
            return nil
        }
        if info.wasResumed { continuesSessions = true }
        guard continuesSessions, hasOffered, !info.wasResumed else { return nil }
        return .handshake(
            "the server has not continued the TLS session that this connection belongs to, though it has before")
    }
}
