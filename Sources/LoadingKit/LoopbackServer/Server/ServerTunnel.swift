/// What a route has of a connection, or of a stream of one, that has switched to another protocol. Used on the
/// connection's thread.
package struct ServerTunnel {
    let receive: () throws -> [UInt8]
    let send: ([UInt8]) throws -> Void

    /// Blocks until there are bytes; empty when the client has ended its side.
    package func read() throws -> [UInt8] { try receive() }

    package func write(_ bytes: [UInt8]) throws { try send(bytes) }
}
