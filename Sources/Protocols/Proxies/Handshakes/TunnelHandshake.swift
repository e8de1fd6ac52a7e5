import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// The protocol between a client and a proxy until the proxy forwards bytes to and from the destination. Pure.
package protocol TunnelHandshake {
    /// The first bytes to send.
    mutating func begin() throws(ProxyError.Cause) -> [UInt8]

    /// Takes bytes from the proxy, of which none follow its last message.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProxyError.Cause) -> TunnelStep

    /// The proxy has closed the connection. Nil where that is an error.
    func connectionDidClose() -> TunnelStep?

    /// What the proxy is to send next, in words.
    var awaited: String { get }
}

extension TunnelHandshake {
    package func connectionDidClose() -> TunnelStep? { nil }
}

package enum TunnelStep {
    case needsMore
    case send([UInt8])
    /// The proxy requires a credential, or another one.
    case challenged(TunnelChallenge)
    /// The tunnel is open. The fields are those of an HTTP proxy's response.
    case established(HTTPFields)
}

/// A proxy's demand for a credential.
package struct TunnelChallenge {
    /// The head of an HTTP proxy's response, which has its challenges; nil for a SOCKS proxy, which wants a user and a password.
    package let head: ResponseHead?
    /// Whether another handshake can follow on the same connection.
    package let keepsConnection: Bool
}

/// The server at the end of a tunnel.
package struct TunnelDestination: Hashable {
    /// A name or an address, without brackets.
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Host and port, as in `CONNECT` and in messages.
    package var authority: String { Endpoint.tcp(host: host, port: port).description }
}
