import CLoadingKitOpenSSL

/// What the decider, and not OpenSSL, decides in the handshake.
extension TLSSession {
    /// The server's certificates, as OpenSSL would verify them.
    var evaluation: TrustEvaluation {
        TrustEvaluation(chain: decisions.chain ?? peerCertificates, serverName: serverName, context: context)
    }

    /// OpenSSL wants the server's certificates verified. It calls again after it was made to wait.
    func verify(_ store: OpaquePointer) -> Reply {
        if case .unasked = decisions.trust {
            certificateFailure = .verifying(
                store, host: serverName, requiresStrength: context.options.requiresStrongCertificates)
            guard decider?.decidesTrust == true else {
                return isTrusted(.verdict) ? .yes : .no
            }
            decisions.chain = Self.chain(store)
            decisions.trust = .asked
        }
        guard case .decided(let decision) = decisions.trust else { return .later }
        guard isTrusted(decision) else { return .no }
        X509_STORE_CTX_set_error(store, X509_V_OK)
        return .yes
    }

    /// What the server sent, which the connection does not have yet while it is verified.
    private static func chain(_ store: OpaquePointer) -> [Certificate] {
        let leaf = X509_STORE_CTX_get0_cert(store).flatMap { Certificate($0) }
        let sent = CertificateStack.certificates(in: X509_STORE_CTX_get0_untrusted(store))
        return sent.first == leaf ? sent : (leaf.map { [$0] } ?? []) + sent
    }

    private func isTrusted(_ decision: TrustDecision) -> Bool {
        switch decision {
        case .trust: true
        case .verdict: certificateFailure == nil || !context.options.verifiesPeer
        case .refuse, .cancel: false
        }
    }

    func decide(_ decision: TrustDecision) { decisions.trust = .decided(decision) }

    /// A continued session has shown no certificates on this connection. The decider decides about them all the same, about
    /// those that it began with, before a byte is sent.
    func afterHandshake() -> HandshakeResult {
        guard SSL_session_reused(ssl) == 1 else { return .done }
        switch decisions.trust {
        case .unasked:
            guard decider?.decidesTrust == true else { return .done }
            decisions.trust = .asked
            return .needsTrustDecision(evaluation)
        case .asked: return .needsTrustDecision(evaluation)
        case .decided(let decision):
            if case .failure(let failure) = evaluation.evaluate() { certificateFailure = failure }
            guard !isTrusted(decision) else { return .done }
            let failure = decisions.failure(certificateFailure, context.options, peerCertificates.first)
            return .failed(failure ?? .cancelled)
        }
    }

    /// The server requests the client's certificate. OpenSSL calls again after it was made to wait.
    func provideCertificate() -> Reply {
        switch decisions.identity {
        case .unasked:
            decisions.clientCertificate = .notSent
            guard decider != nil else { return .yes }
            decisions.identity = .asked
            return .later
        case .asked: return .later
        case .decided(.none): return .yes
        case .decided(.cancel): return .no
        case .decided(.send(let identity)):
            guard identity.use(for: ssl) else { return .no }
            decisions.clientCertificate = .sent
            return .yes
        }
    }

    func decide(_ decision: IdentityDecision) { decisions.identity = .decided(decision) }

    var acceptedAuthorities: [[UInt8]] {
        guard let list = SSL_get0_peer_CA_list(ssl) else { return [] }
        return (0..<max(0, OPENSSL_sk_num(list))).compactMap { index in
            guard let name = OPENSSL_sk_value(list, index).map({ OpaquePointer($0) }) else { return nil }
            var pointer: UnsafeMutablePointer<UInt8>?
            let count = i2d_X509_NAME(name, &pointer)
            guard count > 0, let pointer else { return nil }
            defer { lk_OPENSSL_free(pointer) }
            return Array(UnsafeBufferPointer(start: pointer, count: Int(count)))
        }
    }
}

/// What the decider, and not OpenSSL, has decided in a TLS handshake.
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
    /// What the server sent, from the question to the decider until the connection has it.
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
