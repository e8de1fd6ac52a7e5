import Foundation

/// What an authentication scheme may need to know of the request that it authorizes.
public struct HTTPAuthenticationRequest: Sendable {
    /// The method.
    public let method: String

    /// The request's target as it is sent: path and query. To a proxy the whole URL, or, for `CONNECT`, host and port.
    public let target: String

    /// The name or address of the server, or of the proxy that is to be told, without a port.
    public let host: String

    /// The body; nil when it is a stream, whose bytes are not known before they are sent.
    public let body: Data?

    /// For schemes that bind to connections: the hash of the TLS peer's certificate, as its `tls-server-end-point` binding
    /// has it (RFC 5929 §4); nil without TLS.
    public var channelBinding: Data?

    /// A request, for tests of schemes.
    public init(
        method: String, target: String, host: String, body: Data? = Data(), channelBinding: Data? = nil
    ) {
        self.method = method
        self.target = target
        self.host = host
        self.body = body
        self.channelBinding = channelBinding
    }
}
