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
        case .systemCall(let name, let code): "\(SystemCalls.text(ofError: code)) (\(name.rawValue))"
        case .nameNotFound(let text): "the name was not found (\(text))"
        case .resolverFailed(let text): "the name could not be looked up (\(text))"
        case .noAddresses: "the name has no address"
        case .refused: "connection refused: nothing listens there"
        case .timedOut: "timed out"
        case .cancelled: "cancelled"
        case .certificate(let failure): failure.description
        case .handshake(let text): "the TLS exchange failed (\(text))"
        case .plainTextPeer: "the peer answered in plain text, not TLS"
        case .truncated: "the peer ended the connection without TLS's closing message; bytes may be missing"
        case .configuration(let text): text
        }
    }
}

extension CertificateFailure: CustomStringConvertible {
    package var description: String {
        "\(summary) (certificate \(depth) of the chain, \(subject): \(text))"
    }

    private var summary: String {
        switch reason {
        case .expired: "the certificate has expired"
        case .notYetValid: "the certificate is not valid yet"
        case .selfSigned: "the certificate is self-signed and not trusted"
        case .unknownAuthority: "the certificate was not issued by a trusted authority"
        case .hostMismatch: "the certificate is for another host"
        case .revoked: "the certificate was revoked"
        case .other: "the certificate is not to be trusted"
        }
    }
}
