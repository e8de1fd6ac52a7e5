import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// The protocol between a client and a proxy until the proxy forwards bytes to and from the destination. Pure.
protocol TunnelHandshake {
    /// The first bytes to send.
    mutating func begin() throws(ProxyError.Cause) -> [UInt8]

    /// Takes bytes from the proxy, of which none follow its last message.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProxyError.Cause) -> TunnelStep

    /// The proxy has closed the connection. Nil where that is an error.
    func connectionDidClose() -> TunnelStep?
}

extension TunnelHandshake {
    func connectionDidClose() -> TunnelStep? { nil }
}

enum TunnelStep {
    case needsMore
    case send([UInt8])
    /// The proxy requires a credential, or another one.
    case challenged(TunnelChallenge)
    /// The tunnel is open. The fields are those of an HTTP proxy's response.
    case established(HTTPFields)
}

/// A proxy's challenges.
struct TunnelChallenge {
    let challenges: [HTTPAuthenticationChallenge]
    /// The head of an HTTP proxy's response.
    let head: ResponseHead?
    /// Whether another handshake can follow on the same connection.
    let keepsConnection: Bool
}

/// The server at the end of a tunnel.
struct TunnelDestination: Hashable {
    /// A name or an address, without brackets.
    let host: String
    let port: UInt16

    /// Host and port, as in `CONNECT` and in messages.
    var authority: String { Endpoint.tcp(host: host, port: port).description }
}
