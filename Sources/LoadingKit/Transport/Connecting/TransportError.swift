import Glibc

/// The reason why a connection could not be established or used.
package struct TransportError: Error, Sendable, Hashable {
    package enum Phase: Sendable, Hashable {
        case resolve, connect, tls, read, write
    }

    package enum Cause: Error, Sendable, Hashable {
        case systemCall(SystemCalls.Name, errno: Int32)
        /// The name has no address; with the resolver's text.
        case nameNotFound(String)
        /// The resolver failed; with its text.
        case resolverFailed(String)
        /// The lookup cannot begin: the process has no thread for it, or does too many already.
        case lookupRefused(BlockingPool.Refusal)
        /// DNSSEC validation is required, and the name's addresses were not validated; with the reason.
        case nameNotValidated(String)
        /// The name exists but has no address of a usable family.
        case noAddresses
        /// No server is listening at the address (`ECONNREFUSED`).
        case refused
        case timedOut
        case cancelled
        /// The connection would use a network that is excluded.
        case notAllowed(NetworkUse.Exclusion, interface: String)
        case certificate(CertificateFailure)
        /// The TLS handshake or a TLS record was invalid; with OpenSSL's text.
        case handshake(String)
        /// The peer closed the connection during the TLS handshake; with the moment in words.
        case handshakeClosed(String)
        case alert(TLSAlert, ClientCertificateUse)
        /// The peer does not use TLS on this port.
        case plainTextPeer
        /// The connection ended without TLS's closing message, so bytes may be missing.
        case truncated
        /// The options cannot be used (an unreadable trust store, an invalid protocol name).
        case configuration(String)
    }

    package struct FailedAddress: Sendable, Hashable {
        package var address: SocketAddress
        package var cause: Cause

        package init(address: SocketAddress, cause: Cause) {
            self.address = address
            self.cause = cause
        }
    }

    package var phase: Phase
    /// Host and port, or a path.
    package var endpoint: String
    package var cause: Cause
    package var failedAddresses: [FailedAddress] = []
    /// Whether the system had no network by which a name server or the addresses can be reached.
    package var isOffline = false

    package init(
        _ phase: Phase, _ endpoint: String, _ cause: Cause, failedAddresses: [FailedAddress] = [],
        isOffline: Bool = false
    ) {
        self.phase = phase
        self.endpoint = endpoint
        self.cause = cause
        self.failedAddresses = failedAddresses
        self.isOffline = isOffline
    }

    /// The options cannot be used, as the text says.
    static func misconfiguredTLS(_ text: String) -> TransportError { TransportError(.tls, "TLS", .configuration(text)) }
}

extension TransportError.Cause {
    init(_ failure: SystemCallFailure) {
        switch failure.code {
        case ECONNREFUSED: self = .refused
        case ETIMEDOUT: self = .timedOut
        case _: self = .systemCall(failure.name, errno: failure.code)
        }
    }

    /// Whether the system or a router has no route to the address.
    var isLackOfRoute: Bool {
        if case .systemCall(let name, let code) = self {
            SystemCallFailure(name: name, code: code).isLackOfRoute
        } else {
            false
        }
    }

    /// The number of the system's error; 0 where the cause is another one.
    var errno: Int32 {
        switch self {
        case .refused: ECONNREFUSED
        case .timedOut: ETIMEDOUT
        case .systemCall(_, let code): code
        case _: 0
        }
    }
}

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
        case .lookupRefused(let refusal): "the name could not be looked up (the lookup cannot begin: \(refusal))"
        case .nameNotValidated(let text):
            "the name must be validated by DNSSEC (requiresDNSSECValidation), and was not: \(text)"
        case .noAddresses: "the name has no address"
        case .refused: "connection refused: no server listens there"
        case .timedOut: "timed out"
        case .cancelled: "cancelled"
        case .notAllowed(.cellular, let interface):
            "the connection would use \(interface), a cellular interface, and allowsCellularAccess is false"
        case .notAllowed(.expensive, let interface):
            "the connection would use \(interface), an expensive interface, and allowsExpensiveNetworkAccess is false"
        case .certificate(let failure): failure.description
        case .handshake(let text), .handshakeClosed(let text): "the TLS exchange failed (\(text))"
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
        case .unknownStatus: "the revocation status of the certificate is not known"
        case .pinMismatch: "the certificate has none of the keys that the program has pinned"
        case .weak: "the certificate is too weak"
        case .refused: "the program refused the certificate"
        case .other: "the certificate is not to be trusted"
        }
    }

    /// The advice for the user of the library.
    package var advice: String {
        switch reason {
        case .expired: "it must be renewed on the server, unless this machine's clock is wrong"
        case .notYetValid: "check this machine's clock and the certificate's dates"
        case .selfSigned, .unknownAuthority:
            "to trust it, install its authority in the system's store or name it in "
                + "configuration.tlsTrustRoots; a server must also send the intermediates of its certificate"
        case .hostMismatch: "use a name that the certificate has, or have the certificate name this host"
        case .revoked: "the server needs a new certificate"
        case .unknownStatus:
            "the server must staple its authority's OCSP response if its certificate requires one, and the lists in "
                + "configuration.tlsRevocationLists must be current"
        case .pinMismatch:
            "somebody else may be answering for the server; where the server's keys have changed, change "
                + "configuration.appTransportSecurity.pinnedDomains, or NSPinnedDomains of the Info.plist"
        case .weak:
            "the server needs a stronger certificate, or an entry in "
                + "configuration.appTransportSecurity.exceptionDomains (requiresStrongCertificates = false) where OpenSSL's "
                + "security level allows the weak one"
        case .refused: "the delegate has decided this"
        case .other: "the server needs another certificate"
        }
    }
}
