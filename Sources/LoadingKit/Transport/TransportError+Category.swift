import Glibc
import LoadingKitPrimitives

extension TransportError: LayerError {
    package var category: LayerErrorCategory {
        switch cause {
        case _ where isOffline: .noNetwork
        case .nameNotFound, .noAddresses: .hostNotFound
        case .resolverFailed, .lookupRefused, .nameNotValidated: .nameLookupFailed
        case .notAllowed: .noNetwork
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        case .refused, .configuration: .cannotConnect
        case .certificate(let failure): failure.category
        case .alert(let alert, let use): alert.category(use)
        case .handshake, .handshakeClosed, .plainTextPeer: .secureConnectionFailed
        case .truncated: .connectionLost
        case .systemCall:
            switch phase {
            case .resolve, .connect: .cannotConnect
            case .tls: .secureConnectionFailed
            case .read, .write: .connectionLost
            }
        }
    }
}

extension TransportError {
    /// Whether DNSSEC validation was required and the name's addresses were not validated.
    package var isOfValidation: Bool { if case .nameNotValidated = cause { true } else { false } }

    /// Whether the process or the system lacks what a connection needs: descriptors, memory or threads. This says
    /// nothing about the peer.
    package var isLackOfResources: Bool {
        switch cause {
        case .lookupRefused: true
        case .systemCall(_, let code): [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code)
        case _: false
        }
    }

    /// Whether the connection broke in the TLS handshake, for a reason that has nothing to do with TLS.
    package var isBrokenHandshake: Bool {
        switch cause {
        case .handshakeClosed: true
        case .systemCall: phase == .tls
        case _: false
        }
    }
}

extension TLSAlert {
    /// Before TLS 1.3 there is no alert for a missing certificate: a server that requests a certificate and gets none
    /// sends `handshake_failure`.
    fileprivate func category(_ use: ClientCertificateUse) -> LayerErrorCategory {
        switch use {
        case .notAsked: wantsCertificate ? .clientCertificateRequired : .secureConnectionFailed
        case .notSent:
            wantsCertificate || isAboutCertificate || isHandshakeFailure
                ? .clientCertificateRequired : .secureConnectionFailed
        case .sent:
            isAboutCertificate || isHandshakeFailure || wantsCertificate
                ? .clientCertificateRejected : .secureConnectionFailed
        }
    }
}

extension CertificateFailure {
    package var category: LayerErrorCategory {
        switch reason {
        case .expired: .certificateExpired
        case .notYetValid: .certificateNotYetValid
        case .unknownAuthority: .unknownCertificateAuthority
        case .selfSigned, .hostMismatch, .revoked, .unknownStatus, .pinMismatch, .weak, .refused, .other:
            .untrustedCertificate
        }
    }
}
