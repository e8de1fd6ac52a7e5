@_exported import LoadingKitPrimitives

/// A request that a loopback server received, with functions with which its route can wait for events.
public struct ServerRequest: Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The target as in the request line: usually a path and a query.
    public var target: String
    /// The head's fields, as they were received.
    public var fields: HTTPFields
    /// `:protocol` of extended CONNECT (RFC 8441).
    public var connectProtocol: String?
    /// The body without its framing. Empty where the server's `receiveBody` receives it.
    public var body: [UInt8] = []
    /// The number of bytes in the body.
    public var bodyLength: UInt64 = 0
    /// The fields after a chunked body, or at the end of an HTTP/2 stream.
    public var trailers = HTTPFields()
    /// The number of the connection, from 0.
    public var connection: Int
    /// The number of the request on its connection, from 0.
    public var number: Int
    /// The result of the TLS handshake; nil for a plain connection.
    public var tls: TLSFacts?
    /// Functions for a route that waits.
    public var exchange: ServerExchange

    /// The target up to its query.
    public var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// The part after the target's first question mark; nil without one.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The body as UTF-8; invalid bytes are replaced by U+FFFD.
    public var bodyText: String { String(decoding: body, as: UTF8.self) }
}

/// The waits for a route or a body's closure, on its connection's thread. Each wait ends early, with an error that ends
/// the connection, when the server stops.
public struct ServerExchange: Sendable {
    /// The server was stopped while a route waited, or the route has ended its connection.
    public struct Interrupted: Error, Sendable {
        /// Whether the connection ends with a reset.
        var isReset = false
    }

    private let socket: StreamSocket
    private let stopping: Signal

    init(socket: StreamSocket, stopping: Signal) {
        self.socket = socket
        self.stopping = stopping
    }

    /// Blocks until the test fires the signal.
    public func wait(for signal: Signal) throws {
        guard signal.waitBlocking(interruptedBy: stopping) else { throw Interrupted() }
    }

    /// Blocks until the client has ended the connection.
    public func waitUntilClientCloses() throws {
        try socket.waitUntilPeerCloses()
        if stopping.hasFired { throw Interrupted() }
    }

    /// Ends the connection with a reset, and the route with it, which has to pass the error on.
    public func reset() throws -> Never {
        throw Interrupted(isReset: true)
    }

    /// Ends the connection, in TLS without close_notify, and the route with it, which has to pass the error on.
    public func closeAbruptly() throws -> Never {
        throw Interrupted()
    }
}

extension StreamSocket {
    /// Ends the connection because of an error: with a reset if a route has asked for it, else without close_notify.
    func end(because error: any Error) {
        if (error as? ServerExchange.Interrupted)?.isReset == true { reset() } else { closeWithoutNotify() }
    }
}
