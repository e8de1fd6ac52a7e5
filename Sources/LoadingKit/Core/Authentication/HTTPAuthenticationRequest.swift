import Foundation

/// What an authentication scheme may need to know about the request that it authorizes.
public struct HTTPAuthenticationRequest: Sendable {
    /// The method.
    public let method: String

    /// The request's target as it is sent: path and query. A proxy gets the whole URL, or host and port for `CONNECT`.
    public let target: String

    /// The name or address, without a port, of the server or proxy that authenticates the client.
    public let host: String

    /// The body; nil when it is a stream, as its bytes are not known before they are sent.
    public let body: Data?

    /// The hash of the TLS peer's certificate, as the channel binding `tls-server-end-point` defines it (RFC 5929 §4);
    /// nil without TLS. Schemes that authenticate a connection may use it.
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
