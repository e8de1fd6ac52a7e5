import CLoadingKitOpenSSL

/// The alert with which a peer ended TLS (RFC 8446 §6.2).
package struct TLSAlert: Sendable, Hashable {
    package var code: UInt8

    package init(code: UInt8) { self.code = code }

    /// The alert in OpenSSL's last error on this thread.
    init?(error: UInt) {
        guard lk_ERR_GET_LIB(error) == ERR_LIB_SSL else { return nil }
        let reason = lk_ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET
        guard reason > 0, let code = UInt8(exactly: reason) else { return nil }
        self.code = code
    }

    /// No certificate was sent, and the peer requires one.
    package var wantsCertificate: Bool { code == 116 }

    /// The peer rejects the client's certificate: it is bad, unsupported, revoked, expired, unknown, issued by an
    /// unknown authority, or without access rights.
    package var isAboutCertificate: Bool { (42...46).contains(code) || code == 48 || code == 49 }

    /// No handshake parameters suit both sides. Before TLS 1.3 it can also mean that a certificate is missing.
    package var isHandshakeFailure: Bool { code == 40 || code == 71 }

    /// The peer supports none of the protocols that were offered (RFC 7301 §3.2).
    package var isAboutProtocols: Bool { code == 120 }

    /// The alert's name in words.
    package var name: String {
        switch code {
        // OpenSSL 3.0 has no names for these.
        case 86: "inappropriate fallback"
        case 109: "missing extension"
        case 116: "certificate required"
        case _: SSL_alert_desc_string_long(Int32(code)).map { String(cString: $0) } ?? "unknown"
        }
    }
}

/// The client's answer to a server's request for a certificate.
package enum ClientCertificateUse: Sendable, Hashable {
    case notAsked
    /// The server requested a certificate, and got none.
    case notSent
    case sent
}
