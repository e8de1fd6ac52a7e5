/// The TLS of connections that belong together, as those of an FTP control connection and its data connections do. Confined
/// to a loop.
///
/// The first handshake is decided about. What was decided holds in the others, where nothing is asked: the server shows the
/// same certificate there, and gets the same one. They continue each other's sessions, which no other connection does. Once
/// the server has continued one, it has to: another server with that certificate could not.
package final class TLSFamily {
    private struct First {
        let certificate: Certificate?
        /// Whether the rules let the certificate pass; else the decider did.
        let isVerified: Bool
    }

    let sessions = TLSSessionStore()
    private var first: First?
    private var identity = IdentityDecision.none
    private var continuesSessions = false

    package init() {}

    /// What was decided before about a server that shows this; nil where nothing was.
    func decision(about certificate: Certificate?) -> TrustDecision? {
        guard let first else { return nil }
        guard let certificate, certificate == first.certificate else { return .refuseOther }
        return first.isVerified ? .verdict : .trust
    }

    /// What the server got before; nil where it may be asked for.
    var identityDecision: IdentityDecision? { first == nil ? nil : identity }

    func didChoose(_ identity: IdentityDecision) {
        if first == nil { self.identity = identity }
    }

    /// A handshake is over, with all decisions.
    ///
    /// - Parameter hasOffered: whether there was a session to be continued.
    /// - Returns: why the connection is not to be used all the same.
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
