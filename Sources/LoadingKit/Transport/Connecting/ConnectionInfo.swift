import LoadingKitPrimitives

/// The properties of a connection, which are fixed when it is established.
package final class ConnectionInfo: Sendable {
    /// The number of the connection among those of its ``ConnectObserver``; 0 without one.
    package let number: UInt32
    package let endpoint: Endpoint
    package let local: SocketAddress
    package let remote: SocketAddress
    /// `nil` for a connection without TLS.
    package let tls: TLSInfo?
    package let timings: ConnectTimings
    /// Whether the connection uses several networks at once, if there are several: both sides support Multipath TCP.
    package let isMultipath: Bool

    package init(
        number: UInt32 = 0, endpoint: Endpoint, local: SocketAddress, remote: SocketAddress, tls: TLSInfo?,
        timings: ConnectTimings,
        isMultipath: Bool
    ) {
        self.number = number
        self.endpoint = endpoint
        self.local = local
        self.remote = remote
        self.tls = tls
        self.timings = timings
        self.isMultipath = isMultipath
    }
}

/// The destination of a connection.
package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets (a zone is allowed: `fe80::1%eth0`).
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        }
    }
}

/// The times at which the steps of opening a connection began and ended; `nil` for steps that did not take place.
package struct ConnectTimings: Sendable, Hashable {
    package var resolveStart: MonotonicTime?
    package var resolveEnd: MonotonicTime?
    package var connectStart: MonotonicTime?
    package var connectEnd: MonotonicTime?
    package var tlsStart: MonotonicTime?
    package var tlsEnd: MonotonicTime?

    package init() {}
}

/// The results of a TLS handshake.
package struct TLSInfo: Sendable, Hashable {
    /// The protocol's number on the wire: 0x0303 is TLS 1.2, 0x0304 is TLS 1.3.
    package var protocolVersion: UInt16
    /// The cipher suite's number on the wire.
    package var cipherSuite: UInt16
    package var cipherSuiteName: String
    /// The application protocol that was selected by ALPN; nil if none was.
    package var alpn: String?
    /// Whether an earlier session was resumed, without certificates on the wire.
    package var wasResumed: Bool
    /// The peer's certificates, its own first.
    package var peerCertificates: [Certificate]
    /// The reason why the certificate would not be trusted, if the options disable its verification.
    package var certificateFailure: CertificateFailure?
}

extension TLSInfo {
    /// The information about a handshake of which only these values are known.
    package init(protocolVersion: UInt16, cipherSuite: UInt16) {
        self.init(
            protocolVersion: protocolVersion, cipherSuite: cipherSuite, cipherSuiteName: "", alpn: nil,
            wasResumed: false, peerCertificates: [], certificateFailure: nil)
    }
}
