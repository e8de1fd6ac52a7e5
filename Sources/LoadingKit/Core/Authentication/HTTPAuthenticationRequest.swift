import Foundation

/// What an authentication scheme may need to know of the request that it authorizes.
public struct HTTPAuthenticationRequest: Sendable {
    /// The method.
    public let method: String

    /// The request's target as it is sent: path and query.
    public let target: String

    /// The server's name or address, without a port.
    public let host: String

    /// The body; nil when it is a stream, whose bytes are not known before they are sent.
    public let body: Data?

    /// A request, for tests of schemes.
    public init(method: String, target: String, host: String, body: Data? = Data()) {
        self.method = method
        self.target = target
        self.host = host
        self.body = body
    }
}
