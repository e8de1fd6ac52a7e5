import Glibc

extension TransportError: CustomStringConvertible {
    package var description: String {
        var text = "\(doing) \(endpoint): \(cause)"
        if !failedAddresses.isEmpty {
            let tried = failedAddresses.map { "\($0.address) (\($0.cause))" }
            text += "; tried \(tried.joined(separator: ", "))"
        }
        return text
    }

    private var doing: String {
        switch phase {
        case .resolve: "Looking up"
        case .connect: "Connecting to"
        case .tls: "Securing the connection to"
        case .read: "Reading from"
        case .write: "Writing to"
        }
    }
}

extension TransportError.Cause: CustomStringConvertible {
    package var description: String {
        switch self {
        case .systemCall(let name, EMFILE):
            "the process has as many files and connections open as it may (\(name.rawValue): RLIMIT_NOFILE, ulimit -n)"
        case .systemCall(let name, let code): "\(SystemCalls.text(ofError: code)) (\(name.rawValue))"
        case .nameNotFound(let text): "the name was not found (\(text))"
        case .resolverFailed(let text): "the name could not be looked up (\(text))"
        case .noAddresses: "the name has no address"
        case .refused: "connection refused: nothing listens there"
        case .timedOut: "timed out"
        case .cancelled: "cancelled"
        case .notAllowed(.cellular, let interface):
            "the way there leads over \(interface), which is cellular, and allowsCellularAccess is false"
        case .notAllowed(.expensive, let interface):
            "the way there leads over \(interface), which costs, and allowsExpensiveNetworkAccess is false"
        case .certificate(let failure): failure.description
        case .handshake(let text): "the TLS exchange failed (\(text))"
        case .alert(let alert, let use): Self.text(alert, use)
        case .plainTextPeer: "the peer answered in plain text, not TLS"
        case .truncated: "the peer ended the connection without TLS's closing message; bytes may be missing"
        case .configuration(let text): text
        }
    }
}

extension TransportError.Cause {
    private static func text(_ alert: TLSAlert, _ use: ClientCertificateUse) -> String {
        let said = "the peer ended TLS: \(alert.name) (alert \(alert.code))"
        switch use {
        case .sent where alert.isAboutCertificate || alert.isHandshakeFailure:
            return "\(said); it does not accept the client certificate that was sent"
        case .notSent where alert.wantsCertificate || alert.isAboutCertificate || alert.isHandshakeFailure:
            return "\(said); it asked for a client certificate and got none: answer the challenge "
                + "NSURLAuthenticationMethodClientCertificate with URLCredential(identity:certificates:persistence:)"
        case .notAsked where alert.isHandshakeFailure:
            return
                "\(said); it has no cipher suite in common with those that are offered. Those without forward secrecy are "
                + "only offered where configuration.appTransportSecurity.exceptionDomains says so "
                + "(requiresForwardSecrecy = false)"
        case .notAsked, .notSent, .sent: return said
        }
    }
}

extension CertificateFailure: CustomStringConvertible {
    package var description: String {
        "\(summary) (certificate \(depth) of the chain, \(subject): \(text)); \(advice)"
    }

    private var summary: String {
        switch reason {
        case .expired: "the certificate has expired"
        case .notYetValid: "the certificate is not valid yet"
        case .selfSigned: "the certificate is self-signed and not trusted"
        case .unknownAuthority: "the certificate was not issued by a trusted authority"
        case .hostMismatch: "the certificate is for another host"
        case .revoked: "the certificate was revoked"
        case .weak: "the certificate is too weak"
        case .refused: "the program refused the certificate"
        case .other: "the certificate is not to be trusted"
        }
    }

    /// What to do about it.
    package var advice: String {
        switch reason {
        case .expired: "it must be renewed on the server, unless this machine's clock is wrong"
        case .notYetValid: "check this machine's clock and the certificate's dates"
        case .selfSigned, .unknownAuthority:
            "where it is to be trusted, install its authority in the system's store or name it in "
                + "configuration.tlsTrustRoots; a server must also send the intermediates of its certificate"
        case .hostMismatch: "use a name that the certificate has, or have the certificate name this host"
        case .revoked: "the server needs a new certificate"
        case .weak:
            "the server needs a stronger certificate, or an entry in "
                + "configuration.appTransportSecurity.exceptionDomains (requiresStrongCertificates = false) where OpenSSL's "
                + "security level allows the weak one"
        case .refused: "the delegate decided so"
        case .other: "the server needs another certificate"
        }
    }
}
