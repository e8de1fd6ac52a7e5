/// The names of TLS versions in Apple's Secure Transport, which preceded ``tls_protocol_version_t``. The numbers differ
/// from those on the wire.
public enum SSLProtocol: Int32, Sendable {
    /// No version was selected.
    case sslProtocolUnknown = 0
    /// SSL 3.0, which is not supported.
    case sslProtocol3 = 2
    /// TLS 1.0.
    case tlsProtocol1 = 4
    /// TLS 1.1.
    case tlsProtocol11 = 7
    /// TLS 1.2.
    case tlsProtocol12 = 8
    /// DTLS 1.0, which is not supported.
    case dtlsProtocol1 = 9
    /// TLS 1.3.
    case tlsProtocol13 = 10
    /// DTLS 1.2, which is not supported.
    case dtlsProtocol12 = 11
    /// SSL 2.0, which is not supported.
    case sslProtocol2 = 1
    /// Only SSL 3.0, which is not supported.
    case sslProtocol3Only = 3
    /// Only TLS 1.0.
    case tlsProtocol1Only = 5
    /// All versions.
    case sslProtocolAll = 6

    /// Nil for a version that sessions do not support.
    fileprivate var version: tls_protocol_version_t? {
        switch self {
        case .tlsProtocol1, .tlsProtocol1Only: .TLSv10
        case .tlsProtocol11: .TLSv11
        case .tlsProtocol12: .TLSv12
        case .tlsProtocol13: .TLSv13
        case .sslProtocolUnknown, .sslProtocol2, .sslProtocol3, .sslProtocol3Only, .dtlsProtocol1, .dtlsProtocol12,
            .sslProtocolAll:
            nil
        }
    }

    fileprivate init(_ version: tls_protocol_version_t) {
        switch version {
        case .TLSv10: self = .tlsProtocol1
        case .TLSv11: self = .tlsProtocol11
        case .TLSv12: self = .tlsProtocol12
        case .TLSv13: self = .tlsProtocol13
        case .DTLSv10: self = .dtlsProtocol1
        case .DTLSv12: self = .dtlsProtocol12
        }
    }
}

extension URLSessionConfiguration {
    /// The oldest TLS version accepted. A version that sessions do not support is ignored.
    @available(*, deprecated, message: "Use tlsMinimumSupportedProtocolVersion.")
    public var tlsMinimumSupportedProtocol: SSLProtocol {
        get { SSLProtocol(tlsMinimumSupportedProtocolVersion) }
        set { tlsMinimumSupportedProtocolVersion = newValue.version ?? tlsMinimumSupportedProtocolVersion }
    }

    /// The newest TLS version offered. A version that sessions do not support is ignored.
    @available(*, deprecated, message: "Use tlsMaximumSupportedProtocolVersion.")
    public var tlsMaximumSupportedProtocol: SSLProtocol {
        get { SSLProtocol(tlsMaximumSupportedProtocolVersion) }
        set { tlsMaximumSupportedProtocolVersion = newValue.version ?? tlsMaximumSupportedProtocolVersion }
    }
}
