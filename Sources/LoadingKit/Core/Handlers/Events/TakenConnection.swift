import LoadingKitTransport

/// A connection that uses another protocol from now on.
package struct TakenConnection {
    package let stream: ByteStream
    /// The bytes received after the response.
    package let rest: [UInt8]
    /// The tunnel's other end, where the request's server is a proxy for the program.
    package var tunnel: Tunnel?

    package init(stream: ByteStream, rest: [UInt8]) {
        self.stream = stream
        self.rest = rest
    }

    /// The remote end of a tunnel.
    package struct Tunnel {
        /// A name or an address, without brackets.
        package let host: String
        package let port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }
}
