import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// What a client and a proxy say to each other before the proxy carries bytes between the client and a server: pure, one
/// for each connection.
protocol TunnelHandshake {
    /// What to send first.
    mutating func begin() throws(ProxyError.Cause) -> [UInt8]

    /// Takes bytes from the proxy. None may follow the last one: the server speaks when it was spoken to.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProxyError.Cause) -> TunnelStep

    /// The proxy has closed the connection. Nil where it should not have.
    func close() -> TunnelStep?
}

extension TunnelHandshake {
    func close() -> TunnelStep? { nil }
}

enum TunnelStep {
    case needsMore
    case send([UInt8])
    /// The proxy wants to know who asks, or somebody else to ask.
    case challenged(TunnelChallenge)
    /// The proxy carries bytes from now on. The fields are what an HTTP proxy said with that.
    case established(HTTPFields)
}

/// A proxy's demand for a credential.
struct TunnelChallenge {
    let challenges: [HTTPAuthenticationChallenge]
    /// An HTTP proxy's response.
    let head: ResponseHead?
    /// Whether the proxy listens on, to another handshake on the same connection.
    let keepsConnection: Bool
}

/// Where a tunnel leads to.
struct TunnelDestination: Hashable {
    /// A name or an address, without brackets.
    let host: String
    let port: UInt16

    /// As in `CONNECT` and in messages.
    var authority: String { Endpoint.tcp(host: host, port: port).description }
}
