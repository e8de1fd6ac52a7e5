import CLoadingKitOpenSSL

/// The alert with which a peer ended TLS (RFC 8446 §6.2).
package struct TLSAlert: Sendable, Hashable {
    /// The alert's number on the wire.
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
        case 10: "unexpected message"
        case 20: "bad record MAC"
        case 22: "record overflow"
        case 40: "handshake failure"
        case 42: "bad certificate"
        case 43: "unsupported certificate"
        case 44: "certificate revoked"
        case 45: "certificate expired"
        case 46: "certificate unknown"
        case 47: "illegal parameter"
        case 48: "unknown certificate authority"
        case 49: "access denied"
        case 50: "decode error"
        case 51: "decrypt error"
        case 70: "protocol version"
        case 71: "insufficient security"
        case 80: "internal error"
        case 86: "inappropriate fallback"
        case 90: "user cancelled"
        case 109: "missing extension"
        case 110: "unsupported extension"
        case 112: "unrecognized name"
        case 113: "bad certificate status response"
        case 115: "unknown PSK identity"
        case 116: "certificate required"
        case 120: "no application protocol"
        case _: "number \(code)"
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
