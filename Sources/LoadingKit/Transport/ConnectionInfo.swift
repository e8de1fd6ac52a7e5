/// What is known of a connection since it was made.
package struct ConnectionInfo: Sendable {
    /// Whom the connection was asked for.
    package var endpoint: Endpoint
    package var local: SocketAddress
    package var remote: SocketAddress
    /// `nil` for a connection without TLS.
    package var tls: TLSInfo?
    package var timings: ConnectTimings
}
