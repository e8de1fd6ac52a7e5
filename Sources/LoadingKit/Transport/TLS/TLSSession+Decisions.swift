import CLoadingKitOpenSSL

/// The decisions in the handshake that OpenSSL does not make.
extension TLSSession {
    /// The server's certificates, for an evaluation by the rules of OpenSSL's verification.
    var evaluation: TrustEvaluation {
        TrustEvaluation(
            chain: decisions.chain ?? peerCertificates, serverName: serverName, status: status, context: context)
    }

    /// The stapled status received so far. In TLS 1.3 it arrives before the certificate is verified, in TLS 1.2 after
    /// that. A resumed session has no status: it was sent when the session began.
    private var status: StapledStatus {
        guard SSL_session_reused(ssl) == 0 else { return StapledStatus() }
        var start: UnsafePointer<UInt8>?
        let count = lk_SSL_get_tlsext_status_ocsp_resp(ssl, &start)
        let response = start.flatMap { start in
            count > 0 ? Array(UnsafeBufferPointer(start: start, count: count)) : nil
        }
        return StapledStatus(response: response, isDue: decisions.hasStatus || isTLS13)
    }

    private var isTLS13: Bool { SSL_version(ssl) >= TLS1_3_VERSION }

    /// OpenSSL requests the verification of the server's certificates. It calls again after it was made to wait.
    func verify(_ store: OpaquePointer) -> Reply {
        if case .unasked = decisions.trust {
            let rules = CertificateRules(
                host: serverName, requiresStrength: context.options.requiresStrongCertificates, lists: context.lists,
                status: status)
            certificateFailure = rules.failure(verifying: store)
            if let failure = context.options.pins?.failure(of: store, isTrusted: certificateFailure == nil) {
                // The program's own pins always apply, so the decider is not called.
                certificateFailure = failure
                decisions.trust = .decided(.refuse)
                X509_STORE_CTX_set_error(store, failure.code)
                return .no
            }
            decisions.chain = Self.chain(store)
            decisions.trust = .asked
        }
        guard case .decided(let decision) = decisions.trust else { return .later }
        guard isTrusted(decision) else { return .no }
        X509_STORE_CTX_set_error(store, X509_V_OK)
        return .yes
    }

    /// The certificates that the server sent. The connection does not have them yet during the verification.
    private static func chain(_ store: OpaquePointer) -> [Certificate] {
        let leaf = X509_STORE_CTX_get0_cert(store).flatMap { Certificate($0) }
        let sent = CertificateStack.certificates(in: X509_STORE_CTX_get0_untrusted(store))
        return sent.first == leaf ? sent : (leaf.map { [$0] } ?? []) + sent
    }

    private func isTrusted(_ decision: TrustDecision) -> Bool {
        switch decision {
        case .trust: true
        case .verdict: certificateFailure == nil || !context.options.verifiesPeer
        case .refuse, .refuseOther, .cancel: false
        }
    }

    /// All decisions about a server go through this method: it uses the decision of an earlier handshake to which this
    /// one belongs, otherwise it calls the decider.
    func ask(_ trust: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        if let decision = family?.decision(about: trust.chain.first) { return answer(decision) }
        guard let decider else { return answer(.cancel) }
        decider.decide(trust, answer)
    }

    /// The same for decisions about the client's identity.
    func askForIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        if let decision = family?.identityDecision { return answer(decision) }
        guard let decider else { return answer(.cancel) }
        decider.chooseIdentity(authorities) { [family] in
            family?.didChoose($0)
            answer($0)
        }
    }

    func decide(_ decision: TrustDecision) { decisions.trust = .decided(decision) }

    /// The server's stapled status has arrived, or will not arrive. In TLS 1.2 the decider has decided before. If it
    /// has trusted a server whose status now shows that it is untrusted, it has to decide again.
    func statusDidArrive() -> Reply {
        guard !isTLS13, SSL_session_reused(ssl) == 0 else { return .yes }
        decisions.hasStatus = true
        guard certificateFailure == nil, let failure = statusFailure() else { return .yes }
        certificateFailure = failure
        guard case .decided(.trust) = decisions.trust else { return isTrusted(.verdict) ? .yes : .no }
        decisions.trust = .unasked
        decisions.isToBeRepeated = true
        return .yes
    }

    private func statusFailure() -> CertificateFailure? {
        if let chain = SSL_get0_verified_chain(ssl), OPENSSL_sk_num(chain) > 0 {
            return status.failure(of: chain, trusting: SSL_CTX_get_cert_store(context.context), at: nil)
        }
        // OpenSSL has no verified chain if a decider was waited for.
        return evaluation.failure
    }

    /// A resumed session has shown no certificates on this connection. The decider still decides about them, using the
    /// certificates with which the session began, before any byte is sent. It also decides again if it lacked
    /// information during the handshake.
    func afterHandshake() -> HandshakeResult {
        guard SSL_session_reused(ssl) == 1 || decisions.isToBeRepeated else { return .done }
        switch decisions.trust {
        case .unasked, .asked:
            decisions.trust = .asked
            return .needsTrustDecision(evaluation)
        case .decided(.verdict) where !context.options.verifiesPeer: return .done
        case .decided(let decision):
            if let failure = evaluation.failure { certificateFailure = failure }
            return settle(decision)
        }
    }

    private func settle(_ decision: TrustDecision) -> HandshakeResult {
        guard !isTrusted(decision) else { return .done }
        let failure = decisions.failure(certificateFailure, context.options, peerCertificates.first)
        return .failed(failure ?? .cancelled)
    }

    /// The server requests the client's certificate. OpenSSL calls again after it was made to wait.
    func provideCertificate() -> Reply {
        // A tunnel runs in this connection: the program gets only the challenges of the inner connection, which would
        // wait for the answer to this one.
        if decisions.isEstablished, decisions.isCarrier { return provide(.none) }
        switch decisions.identity {
        case .unasked:
            // HTTP/2 forbids the request after the handshake, as many streams are under way (RFC 9113 §9.2.3).
            guard !decisions.isEstablished || !isHTTP2 else {
                decisions.identity = .forbidden
                return .no
            }
            decisions.clientCertificate = .notSent
            decisions.identity = .asked
            return .later
        case .asked: return .later
        case .forbidden: return .no
        case .decided(let decision):
            // A server may request a certificate again. The decider then makes a new decision.
            if decisions.isEstablished { decisions.identity = .unasked }
            return provide(decision)
        }
    }

    private func provide(_ decision: IdentityDecision) -> Reply {
        switch decision {
        case .none:
            // The client may have sent a certificate before.
            if decisions.isEstablished { SSL_certs_clear(ssl) }
            return .yes
        case .cancel: return .no
        case .send(let identity):
            guard identity.use(for: ssl) else { return .no }
            decisions.clientCertificate = .sent
            return .yes
        }
    }

    private var isHTTP2: Bool { info.alpn == "h2" }

    func decide(_ decision: IdentityDecision) { decisions.identity = .decided(decision) }

    /// Whether reads and writes wait for the decision about a request for a certificate after the handshake.
    var awaitsIdentity: Bool {
        guard decisions.isEstablished, case .asked = decisions.identity else { return false }
        return true
    }

    var acceptedAuthorities: [[UInt8]] {
        OpenSSLValues.elements(of: SSL_get0_peer_CA_list(ssl)).compactMap { name in
            OpenSSLValues.der { i2d_X509_NAME(name, &$0) }
        }
    }
}

/// The decisions in a TLS handshake that the decider, and not OpenSSL, has made.
struct TLSDecisions {
    enum Trust {
        case unasked, asked
        case decided(TrustDecision)
    }

    enum Identity {
        case unasked, asked
        /// The server has requested a certificate when it must not. The connection has failed.
        case forbidden
        case decided(IdentityDecision)
    }

    var trust = Trust.unasked
    var identity = Identity.unasked
    var clientCertificate = ClientCertificateUse.notAsked
    /// Whether the complete stapled status has arrived (TLS 1.2).
    var hasStatus = false
    /// Whether the decider must decide about the server again after the handshake.
    var isToBeRepeated = false
    var isEstablished = false
    /// Whether another TLS connection runs inside this one, as in a tunnel that a proxy has made.
    var isCarrier = false
    /// The certificates that the server sent, from the call of the decider until the connection has them.
    var chain: [Certificate]?

    /// The failure of the handshake, if a decision caused it.
    func failure(
        _ found: CertificateFailure?, _ options: TLSOptions, _ leaf: Certificate?
    ) -> TransportError.Cause? {
        if case .decided(.cancel) = identity { return .cancelled }
        switch trust {
        case .decided(.cancel): return .cancelled
        case .decided(.refuse): return .certificate(found ?? .refused(chain?.first ?? leaf))
        case .decided(.refuseOther):
            return .certificate(
                .refused(
                    chain?.first ?? leaf,
                    "it is not the certificate that the server showed on the connection that this one belongs to"))
        case .decided(.trust): return nil
        case .unasked, .asked, .decided(.verdict):
            return options.verifiesPeer ? found.map { .certificate($0) } : nil
        }
    }
}
