import LoadingKitPrimitives

/// A request that a loopback server received, and the means for its route to wait for something.
package struct ServerRequest: Sendable {
    package var method: String
    /// As the request line has it: usually a path and a query.
    package var target: String
    package var fields: HTTPFields
    /// `:protocol` of extended CONNECT (RFC 8441).
    package var connectProtocol: String?
    /// Without its framing. Empty where the server's `receiveBody` takes it.
    package var body: [UInt8] = []
    /// How many bytes the body had.
    package var bodyLength: UInt64 = 0
    package var trailers = HTTPFields()
    /// The number of the connection, from 0.
    package var connection: Int
    /// The number of the request on its connection, from 0.
    package var number: Int
    /// What the handshake agreed; nil for a plain connection.
    package var tls: TLSFacts?
    /// For a route that waits.
    package var exchange: ServerExchange

    /// The target up to its query.
    package var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// What follows the target's first question mark; nil without one.
    package var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    package var bodyText: String { String(decoding: body, as: UTF8.self) }
}
