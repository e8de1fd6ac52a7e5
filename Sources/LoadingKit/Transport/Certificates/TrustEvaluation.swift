import CLoadingKitOpenSSL

/// The evaluation of a server's certificates: the certificates, the rules, and the verdict.
package struct TrustEvaluation: Sendable {
    /// The certificates that the server sent, its own first.
    package var chain: [Certificate]
    /// The name or address for which the first certificate must be valid; nil for any.
    package var serverName: String?
    /// The time at which the chain must be valid, in seconds since 1970; nil for now.
    package var time: Int64?
    /// Authorities that are trusted in addition to the connection's, or instead of them.
    package var anchors: [Certificate] = []
    /// Whether the connection's authorities are trusted (the system's, if there was no connection).
    package var trustsSystem = true
    /// Whether the certificate must be as strong as App Transport Security requires.
    package var requiresStrength = true
    /// Whether certificates must conform to RFC 5280 in every detail.
    package var isStrict = false
    /// The server's stapled status of its own certificate.
    package var status = StapledStatus()
    /// Lists of revoked certificates, in addition to the connection's.
    package var lists: [RevocationListSource] = []
    /// The connection's TLS context; nil for the system's authorities.
    private let context: TLSContext?

    package init(chain: [Certificate], serverName: String?) {
        self.chain = chain
        self.serverName = serverName
        context = nil
    }

    init(chain: [Certificate], serverName: String, status: StapledStatus, context: TLSContext) {
        self.status = status
        self.chain = chain
        self.serverName = serverName
        self.context = context
        requiresStrength = context.options.requiresStrongCertificates
    }

    /// The reason why the chain is not trusted; nil if it is. May take milliseconds.
    package var failure: CertificateFailure? {
        do throws(CertificateFailure) { _ = try evaluate() } catch { return error }
        return nil
    }

    /// The chain from the server's certificate to a trusted one. May take milliseconds.
    package func evaluate() throws(CertificateFailure) -> [Certificate] {
        var ownFailure: CertificateFailure?
        if !anchors.isEmpty || !trustsSystem {
            do throws(CertificateFailure) { return try evaluate(against: ownAnchors()) } catch { ownFailure = error }
        }
        if !trustsSystem, let ownFailure { throw ownFailure }
        let system = try systemAnchors()
        do throws(CertificateFailure) { return try evaluate(against: system) } catch {
            // If neither set of authorities trusts the chain, the failure of the program's own anchors is reported.
            throw ownFailure ?? error
        }
    }

    private func evaluate(against anchors: TrustAnchors) throws(CertificateFailure) -> [Certificate] {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let rules: CertificateRules
        do throws(TransportError) {
            rules = CertificateRules(
                host: serverName, requiresStrength: requiresStrength, lists: try allLists(), status: status, time: time)
        } catch {
            throw CertificateFailure(unusableLists: error.cause.description)
        }
        guard let leaf = chain.first?.parse() else { throw .malformed }
        defer { X509_free(leaf) }
        guard let others = CertificateStack(chain.dropFirst()), let store = X509_STORE_CTX_new() else {
            throw .malformed
        }
        defer { X509_STORE_CTX_free(store) }
        guard X509_STORE_CTX_init(store, anchors.store, leaf, others.pointer) == 1,
            X509_STORE_CTX_set_default(store, "ssl_server") == 1, let parameters = X509_STORE_CTX_get0_param(store)
        else { throw .malformed }
        if let serverName, !PeerName.demand(serverName, in: parameters) {
            throw CertificateFailure(code: X509_V_ERR_HOSTNAME_MISMATCH, subject: subject, depth: 0)
        }
        if let time { X509_VERIFY_PARAM_set_time(parameters, Int(time)) }
        if isStrict { X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_X509_STRICT)) }
        X509_VERIFY_PARAM_set_auth_level(parameters, context?.securityLevel ?? TLSContext.defaultSecurityLevel)
        if let failure = withExtendedLifetime(rules, { rules.failure(verifying: store) }) { throw failure }
        return CertificateStack.certificates(in: X509_STORE_CTX_get0_chain(store))
    }

    private func allLists() throws(TransportError) -> RevocationLists? {
        lists.isEmpty ? context?.lists : try RevocationLists(lists, besides: context?.lists)
    }

    private func ownAnchors() throws(CertificateFailure) -> TrustAnchors {
        guard let own = TrustAnchors(anchors) else { throw .unusableAnchors }
        return own
    }

    private func systemAnchors() throws(CertificateFailure) -> TrustAnchors {
        do throws(TransportError) {
            if let context { return try context.anchors }
            return try SharedTrustStore.ofProcess.anchors(TrustSource(.ofProcess))
        } catch {
            throw CertificateFailure(noAnchors: error.cause.description)
        }
    }

    private var subject: String { chain.first?.subject ?? "unknown" }
}
