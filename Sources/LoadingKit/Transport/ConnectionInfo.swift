/// What is known of a connection since it was made.
package final class ConnectionInfo: Sendable {
    /// Whom the connection was asked for.
    package let endpoint: Endpoint
    package let local: SocketAddress
    package let remote: SocketAddress
    /// `nil` for a connection without TLS.
    package let tls: TLSInfo?
    package let timings: ConnectTimings

    package init(
        endpoint: Endpoint, local: SocketAddress, remote: SocketAddress, tls: TLSInfo?, timings: ConnectTimings
    ) {
        self.endpoint = endpoint
        self.local = local
        self.remote = remote
        self.tls = tls
        self.timings = timings
    }
}
