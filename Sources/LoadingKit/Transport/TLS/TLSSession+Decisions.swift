import CLoadingKitOpenSSL

/// What the decider, and not OpenSSL, decides in the handshake.
extension TLSSession {
    /// The server's certificates, as OpenSSL would verify them.
    var evaluation: TrustEvaluation {
        TrustEvaluation(
            chain: decisions.chain ?? peerCertificates, serverName: serverName, status: status, context: context)
    }

    /// What the server has said so far about its certificate. TLS 1.3 has it before the certificate is verified, TLS 1.2
    /// after that. In a session that is continued nothing is said: it was when the session began.
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

    /// OpenSSL wants the server's certificates verified. It calls again after it was made to wait.
    func verify(_ store: OpaquePointer) -> Reply {
        if case .unasked = decisions.trust {
            let rules = CertificateRules(
                host: serverName, requiresStrength: context.options.requiresStrongCertificates, lists: context.lists,
                status: status)
            certificateFailure = rules.failure(verifying: store)
            if let failure = context.options.pins?.failure(of: store, isTrusted: certificateFailure == nil) {
                // No answer could be that the program's own pins do not count.
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
        case .refuse, .refuseOther, .cancel: false
        }
    }

    /// The one way to a decision about a server: what was decided in an earlier handshake that this one belongs to, else the
    /// decider.
    func ask(_ trust: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        if let decision = family?.decision(about: trust.chain.first) { return answer(decision) }
        guard let decider else { return answer(.cancel) }
        decider.decide(trust, answer)
    }

    /// The same for what the server gets of the client.
    func askForIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        if let decision = family?.identityDecision { return answer(decision) }
        guard let decider else { return answer(.cancel) }
        decider.chooseIdentity(authorities) { [family] in
            family?.didChoose($0)
            answer($0)
        }
    }

    func decide(_ decision: TrustDecision) { decisions.trust = .decided(decision) }

    /// What the server says of its certificate has come, or will not come. In TLS 1.2 the decider has decided before: where it
    /// has trusted a server that is found not to be trusted now, it has to decide again.
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
        // OpenSSL has no verified chain where a decider was waited for.
        if case .failure(let failure) = evaluation.evaluate() { return failure }
        return nil
    }

    /// A continued session has shown no certificates on this connection. The decider decides about them all the same, about
    /// those that it began with, before a byte is sent. So it does where it has not known all in the handshake.
    func afterHandshake() -> HandshakeResult {
        guard SSL_session_reused(ssl) == 1 || decisions.isToBeRepeated else { return .done }
        switch decisions.trust {
        case .unasked, .asked:
            decisions.trust = .asked
            return .needsTrustDecision(evaluation)
        case .decided(.verdict) where !context.options.verifiesPeer: return .done
        case .decided(let decision):
            if case .failure(let failure) = evaluation.evaluate() { certificateFailure = failure }
            return settle(decision)
        }
    }

    private func settle(_ decision: TrustDecision) -> HandshakeResult {
        guard !isTrusted(decision) else { return .done }
        let failure = decisions.failure(certificateFailure, context.options, peerCertificates.first)
        return .failed(failure ?? .cancelled)
    }

    /// The server requests the client's certificate, in the handshake or after it. OpenSSL calls again after it was made to
    /// wait.
    func provideCertificate() -> Reply {
        switch decisions.identity {
        case .unasked:
            // HTTP/2 does not allow it after the handshake: the requests of many streams are under way (RFC 9113 §9.2.3).
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
            // A server may ask again, and gets another answer then.
            if decisions.isEstablished { decisions.identity = .unasked }
            return provide(decision)
        }
    }

    private func provide(_ decision: IdentityDecision) -> Reply {
        switch decision {
        case .none:
            // It may have sent one before.
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

    /// Whether a read or a write can only go on when it was decided what a server gets that asked for the client's
    /// certificate after the handshake.
    var awaitsIdentity: Bool {
        guard decisions.isEstablished, case .asked = decisions.identity else { return false }
        return true
    }

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
        /// The server has asked when it may not: the connection has failed.
        case forbidden
        case decided(IdentityDecision)
    }

    var trust = Trust.unasked
    var identity = Identity.unasked
    var clientCertificate = ClientCertificateUse.notAsked
    /// Whether all is here that the server says of its certificate (TLS 1.2).
    var hasStatus = false
    /// Whether the decider has to decide about the server again, after the handshake.
    var isToBeRepeated = false
    /// Whether the handshake is over.
    var isEstablished = false
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
        case .decided(.refuseOther): return .certificate(.other(chain?.first ?? leaf))
        case .decided(.trust): return nil
        case .unasked, .asked, .decided(.verdict):
            return options.verifiesPeer ? found.map { .certificate($0) } : nil
        }
    }
}
