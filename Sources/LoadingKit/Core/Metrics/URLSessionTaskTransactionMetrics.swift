import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The times of one transaction: a request and its response, from the cache or over the network.
///
/// Follows Apple's `URLSessionTaskTransactionMetrics`. Dates that do not apply are nil: a reused connection has no
/// lookup, a response from the cache no request. The steps of a connection that were taken before ``fetchStartDate``,
/// for another task, have this date. Dates are computed on request.
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {  // only constants
    /// The request, before the fields that the session adds.
    public let request: URLRequest

    /// The response, or nil when there was none.
    public let response: URLResponse?

    private let timings: TransactionTimings
    package let anchor: WallClockAnchor

    package init(request: URLRequest, response: URLResponse?, timings: TransactionTimings, anchor: WallClockAnchor) {
        self.request = request
        self.response = response
        self.timings = timings
        self.anchor = anchor
    }

    package var record: TransactionRecord {
        TransactionRecord(timings: timings, request: request, response: response)
    }

    private var connection: ConnectionMetrics? { timings.connection }

    /// The times of the connection's establishment; nil where an earlier transaction made the connection.
    private var making: ConnectTimings? { isReusedConnection ? nil : connection?.timings }

    private func date(_ time: MonotonicTime?) -> Date? { time.map(anchor.date(of:)) }

    /// The date of a step of the connection's establishment.
    private func date(ofStep time: MonotonicTime?) -> Date? { date(time.map { max($0, timings.fetchStart ?? $0) }) }

    // MARK: Dates

    /// The time at which the task started to fetch the resource, from any source.
    public var fetchStartDate: Date? { date(timings.fetchStart) }

    /// The time just before the lookup of the host's name.
    public var domainLookupStartDate: Date? { date(ofStep: making?.resolveStart) }

    /// The time at which the lookup had ended.
    public var domainLookupEndDate: Date? { date(ofStep: making?.resolveEnd) }

    /// The time just before the start of the connection's establishment.
    public var connectStartDate: Date? { date(ofStep: making?.connectStart) }

    /// The time just before the TLS handshake, which is part of the connection's establishment.
    public var secureConnectionStartDate: Date? { date(ofStep: making?.tlsStart) }

    /// The time at which the TLS handshake was complete.
    public var secureConnectionEndDate: Date? { date(ofStep: making?.tlsEnd) }

    /// The time at which the connection was ready, including the TLS handshake.
    public var connectEndDate: Date? { date(ofStep: making?.readyTime) }

    /// The time just before the request's first byte was sent.
    public var requestStartDate: Date? { date(timings.requestStart) }

    /// The time at which the request's last byte had been sent.
    public var requestEndDate: Date? { date(timings.requestEnd) }

    /// The time at which the response's first byte arrived.
    public var responseStartDate: Date? { date(timings.responseStart) }

    /// The time at which the response's last byte had arrived. For a redirect or a challenge, whose body is not needed,
    /// the time at which it was answered.
    public var responseEndDate: Date? { date(timings.responseEnd) }

    // MARK: Bytes

    /// Bytes of request line and fields that were sent, as framed by the protocol.
    public var countOfRequestHeaderBytesSent: Int64 { timings.requestHeaderBytesSent }

    /// Bytes of the request's body that were sent, as framed by the protocol.
    public var countOfRequestBodyBytesSent: Int64 { timings.requestBodyBytesSent }

    /// Bytes of the request's body without any framing.
    public var countOfRequestBodyBytesBeforeEncoding: Int64 { timings.requestBodyBytesBeforeEncoding }

    /// Bytes of status line and fields that were received, as framed by the protocol.
    public var countOfResponseHeaderBytesReceived: Int64 { timings.responseHeaderBytesReceived }

    /// Bytes of the response's body that were received, including content codings and framing.
    public var countOfResponseBodyBytesReceived: Int64 { timings.responseBodyBytesReceived }

    /// Bytes of the response's body that were received, including content codings, without framing. Metrics that were
    /// stored, such as those of background tasks, do not have the framing's count: there the framing is included.
    package var countOfResponseContentBytesReceived: Int64 {
        timings.responseBodyBytesReceived - timings.responseFramingBytesReceived
    }

    /// Bytes of the response's body that the task delivered, after content decoding.
    public var countOfResponseBodyBytesAfterDecoding: Int64 { timings.responseBodyBytesAfterDecoding }

    // MARK: Connection

    /// The ALPN identifier of the protocol (`http/1.1`, `h2`), or nil.
    public var networkProtocolName: String? { connection?.protocolName }

    /// The local address of the connection.
    public var localAddress: String? { connection?.local?.address }

    /// The local port of the connection, in decimal.
    public var localPort: String? { connection?.local?.port.map { String($0) } }

    /// The remote address of the connection: the server's, or the proxy's.
    public var remoteAddress: String? { connection?.remote?.address }

    /// The remote port of the connection, in decimal.
    public var remotePort: String? { connection?.remote?.port.map { String($0) } }

    /// The negotiated TLS version, or nil without TLS.
    public var negotiatedTLSProtocolVersion: tls_protocol_version_t? {
        connection?.tls.flatMap { tls_protocol_version_t(rawValue: $0.protocolVersion) }
    }

    /// The negotiated cipher suite, or nil without TLS or for a suite that the enumeration lacks.
    public var negotiatedTLSCipherSuite: tls_ciphersuite_t? {
        connection?.tls.flatMap { tls_ciphersuite_t(rawValue: $0.cipherSuite) }
    }

    /// Whether the connection had served another request before.
    public var isReusedConnection: Bool { timings.isReusedConnection }

    /// Whether the connection went through a proxy.
    public var isProxyConnection: Bool { connection?.isProxied == true }

    /// Whether the connection used a cellular network: whether the interface that has its local address, when this
    /// property is read, is a modem's.
    public var isCellular: Bool { localAddress.map(Networks.isCellular) ?? false }

    /// Whether the connection used an expensive network, such as a cellular one.
    public var isExpensive: Bool { isCellular }

    /// Whether the connection used a constrained network; always false on Linux.
    public var isConstrained: Bool { false }

    /// Whether the connection was established with Multipath TCP, and can use several networks at once:
    /// ``URLSessionConfiguration/multipathServiceType``.
    public var isMultipath: Bool { connection?.isMultipath == true }

    /// The source of the resource.
    public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType { timings.resourceFetchType }

    /// The protocol by which the host's name was resolved.
    public var domainResolutionProtocol: URLSessionTaskMetrics.DomainResolutionProtocol {
        timings.domainResolutionProtocol
    }

    /// The URL without its password, protocol and kind of connection on one line.
    open override var description: String {
        let connection = timings.isReusedConnection ? "reused" : "new"
        let url = Columns.printable(request.url?.withoutPassword ?? "no URL")
        return "<URLSessionTaskTransactionMetrics> \(url), \(networkProtocolName ?? "no protocol"), "
            + "fetch: \(timings.resourceFetchType), connection: \(connection)"
    }
}

/// A TLS cipher suite, with its number in IANA's registry.
public enum tls_ciphersuite_t: UInt16, Sendable {
    /// `TLS_RSA_WITH_3DES_EDE_CBC_SHA`.
    case RSA_WITH_3DES_EDE_CBC_SHA = 0x000A
    /// `TLS_RSA_WITH_AES_128_CBC_SHA`.
    case RSA_WITH_AES_128_CBC_SHA = 0x002F
    /// `TLS_RSA_WITH_AES_256_CBC_SHA`.
    case RSA_WITH_AES_256_CBC_SHA = 0x0035
    /// `TLS_RSA_WITH_AES_128_GCM_SHA256`.
    case RSA_WITH_AES_128_GCM_SHA256 = 0x009C
    /// `TLS_RSA_WITH_AES_256_GCM_SHA384`.
    case RSA_WITH_AES_256_GCM_SHA384 = 0x009D
    /// `TLS_RSA_WITH_AES_128_CBC_SHA256`.
    case RSA_WITH_AES_128_CBC_SHA256 = 0x003C
    /// `TLS_RSA_WITH_AES_256_CBC_SHA256`.
    case RSA_WITH_AES_256_CBC_SHA256 = 0x003D
    /// `TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA`.
    case ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA = 0xC008
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA`.
    case ECDHE_ECDSA_WITH_AES_128_CBC_SHA = 0xC009
    /// `TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA`.
    case ECDHE_ECDSA_WITH_AES_256_CBC_SHA = 0xC00A
    /// `TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA`.
    case ECDHE_RSA_WITH_3DES_EDE_CBC_SHA = 0xC012
    /// `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA`.
    case ECDHE_RSA_WITH_AES_128_CBC_SHA = 0xC013
    /// `TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA`.
    case ECDHE_RSA_WITH_AES_256_CBC_SHA = 0xC014
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256`.
    case ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 = 0xC023
    /// `TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384`.
    case ECDHE_ECDSA_WITH_AES_256_CBC_SHA384 = 0xC024
    /// `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256`.
    case ECDHE_RSA_WITH_AES_128_CBC_SHA256 = 0xC027
    /// `TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384`.
    case ECDHE_RSA_WITH_AES_256_CBC_SHA384 = 0xC028
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256`.
    case ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = 0xC02B
    /// `TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384`.
    case ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = 0xC02C
    /// `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`.
    case ECDHE_RSA_WITH_AES_128_GCM_SHA256 = 0xC02F
    /// `TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384`.
    case ECDHE_RSA_WITH_AES_256_GCM_SHA384 = 0xC030
    /// `TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256`.
    case ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = 0xCCA8
    /// `TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256`.
    case ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = 0xCCA9
    /// `TLS_AES_128_GCM_SHA256`.
    case AES_128_GCM_SHA256 = 0x1301
    /// `TLS_AES_256_GCM_SHA384`.
    case AES_256_GCM_SHA384 = 0x1302
    /// `TLS_CHACHA20_POLY1305_SHA256`.
    case CHACHA20_POLY1305_SHA256 = 0x1303
}

/// A TLS or DTLS version, with its number on the wire.
public enum tls_protocol_version_t: UInt16, Sendable {
    /// TLS 1.0 (RFC 2246).
    case TLSv10 = 0x0301
    /// TLS 1.1 (RFC 4346).
    case TLSv11 = 0x0302
    /// TLS 1.2 (RFC 5246).
    case TLSv12 = 0x0303
    /// TLS 1.3 (RFC 8446).
    case TLSv13 = 0x0304
    /// DTLS 1.0 (RFC 4347).
    case DTLSv10 = 0xfeff
    /// DTLS 1.2 (RFC 6347).
    case DTLSv12 = 0xfefd
}
