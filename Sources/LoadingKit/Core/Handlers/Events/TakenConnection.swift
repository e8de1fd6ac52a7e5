import LoadingKitTransport

/// A connection that uses another protocol from now on.
package struct TakenConnection {
    package let stream: ByteStream
    /// The bytes received after the response.
    package let rest: [UInt8]
    /// The host to which the connection leads: a name or an address, without brackets. Where the request's server is a proxy
    /// for the program, the tunnel's other end.
    package var host = ""
    package var port = 0

    package init(stream: ByteStream, rest: [UInt8]) {
        self.stream = stream
        self.rest = rest
    }
}
