import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// The handshake between a client and a proxy, after which the proxy forwards bytes to and from the destination. Pure.
package protocol TunnelHandshake {
    /// The first bytes to send.
    mutating func begin() throws(ProxyError.Cause) -> [UInt8]

    /// Processes bytes from the proxy. The proxy must not send bytes behind its last message.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProxyError.Cause) -> TunnelStep

    /// The proxy has closed the connection. Returns nil if this is an error.
    func connectionDidClose() -> TunnelStep?

    /// The next message expected from the proxy, in words.
    var awaited: String { get }
}

extension TunnelHandshake {
    package func connectionDidClose() -> TunnelStep? { nil }
}

package enum TunnelStep {
    case needsMore
    case send([UInt8])
    /// The proxy requires a credential, or a different one.
    case challenged(TunnelChallenge)
    /// The tunnel is open. The fields come from an HTTP proxy's response.
    case established(HTTPFields)
}

/// A proxy's request for a credential.
package struct TunnelChallenge {
    /// The head of an HTTP proxy's response, which contains its challenges; nil for a SOCKS proxy, which requires a
    /// user and a password.
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

    /// Host and port, in the form for `CONNECT` and for messages.
    package var authority: String { Endpoint.tcp(host: host, port: port).description }
}
