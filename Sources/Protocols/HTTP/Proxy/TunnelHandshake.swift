import LoadingKitTransport

/// What a client and a proxy say to each other before the proxy carries bytes between the client and a server: pure, one
/// for each connection.
protocol TunnelHandshake {
    /// What to send first.
    mutating func begin() throws(ProxyError.Cause) -> [UInt8]

    /// Takes bytes from the proxy. None may follow the last one: the server speaks when it was spoken to.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(ProxyError.Cause) -> TunnelStep
}

enum TunnelStep {
    case needsMore
    case send([UInt8])
    /// The proxy carries bytes from now on.
    case established
}

/// Where a tunnel leads to.
struct TunnelDestination: Hashable {
    /// A name or an address, without brackets.
    let host: String
    let port: UInt16

    /// As in `CONNECT` and in messages.
    var authority: String { Endpoint.tcp(host: host, port: port).description }
}
