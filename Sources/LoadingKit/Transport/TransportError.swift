import Glibc

/// Why a connection could not be made or used.
package struct TransportError: Error, Sendable, Hashable {
    /// What was being done.
    package enum Phase: Sendable, Hashable {
        case resolve, connect, tls, read, write
    }

    /// What happened.
    package enum Cause: Error, Sendable, Hashable {
        /// A system call failed with this `errno`.
        case systemCall(SystemCalls.Name, errno: Int32)
        /// The name has no address; the resolver's text.
        case nameNotFound(String)
        /// The resolver could not say; its text.
        case resolverFailed(String)
        /// The name exists and has no address of a family that can be used.
        case noAddresses
        /// Nobody listens there.
        case refused
        case timedOut
        case cancelled
        /// The way there leads over a network that is not to be used.
        case notAllowed(NetworkUse.Exclusion, interface: String)
        /// The peer's certificate is not to be trusted.
        case certificate(CertificateFailure)
        /// The TLS handshake or a TLS record was not right; OpenSSL's text.
        case handshake(String)
        /// The peer ended TLS with this alert.
        case alert(TLSAlert, ClientCertificateUse)
        /// The peer does not speak TLS on this port.
        case plainTextPeer
        /// The connection ended without TLS's closing message: bytes may be missing.
        case truncated
        /// The options cannot be used (a trust store that cannot be read, a wrong protocol name).
        case configuration(String)
    }

    /// An address that was tried, and why in vain.
    package struct FailedAddress: Sendable, Hashable {
        package var address: SocketAddress
        package var cause: Cause

        package init(address: SocketAddress, cause: Cause) {
            self.address = address
            self.cause = cause
        }
    }

    package var phase: Phase
    /// Host and port, or path.
    package var endpoint: String
    package var cause: Cause
    /// The addresses that were tried, in order.
    package var failedAddresses: [FailedAddress] = []

    package init(_ phase: Phase, _ endpoint: String, _ cause: Cause, failedAddresses: [FailedAddress] = []) {
        self.phase = phase
        self.endpoint = endpoint
        self.cause = cause
        self.failedAddresses = failedAddresses
    }
}

extension TransportError.Cause {
    init(_ failure: SystemCallFailure) {
        switch failure.code {
        case ECONNREFUSED: self = .refused
        case ETIMEDOUT: self = .timedOut
        case _: self = .systemCall(failure.name, errno: failure.code)
        }
    }
}
