/// What was decided in a TLS handshake by somebody else than OpenSSL.
struct TLSDecisions {
    enum Trust {
        case unasked, asked
        case decided(TrustDecision)
    }

    enum Identity {
        case unasked, asked
        case decided(IdentityDecision)
    }

    var trust = Trust.unasked
    var identity = Identity.unasked
    var clientCertificate = ClientCertificateUse.notAsked
    /// What the server sent, from when it is asked about it until the connection has it.
    var chain: [Certificate]?

    /// Why the handshake failed, where that was decided.
    func failure(
        _ found: CertificateFailure?, _ options: TLSOptions, _ leaf: Certificate?
    ) -> TransportError.Cause? {
        if case .decided(.cancel) = identity { return .cancelled }
        switch trust {
        case .decided(.cancel): return .cancelled
        case .decided(.refuse): return .certificate(found ?? .refused(chain?.first ?? leaf))
        case .decided(.trust): return nil
        case .unasked, .asked, .decided(.verdict):
            return options.verifiesPeer ? found.map { .certificate($0) } : nil
        }
    }
}
