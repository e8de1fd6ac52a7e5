import Glibc
import LoadingKitPrimitives

/// An HTTP/1.1 origin server, with HTTP/2 where ALPN selects `h2` by its TLS options, on a loopback address or a Unix
/// socket, for tests and for the demo. Each connection has a thread, which blocks. Stopping the server ends all
/// connections and threads.
///
///     let server = try LoopbackServer { request in .text("You asked for \(request.target)") }
///     defer { server.stop() }
public final class LoopbackServer: Sendable {
    /// Answers a request, on its connection's thread. An error ends the connection without an answer.
    public typealias Route = @Sendable (ServerRequest) throws -> ServerResponse

    /// The options for listening and receiving.
    public struct Options: Sendable {
        /// IPv4 on any free port by default.
        public var address: LoopbackAddress = .ipv4()
        /// Nil for plain HTTP.
        public var tls: TLSServerOptions?
        /// The number of connections that the system may complete before they are accepted.
        public var backlog: Int32 = SOMAXCONN
        /// Whether `requests` records the requests. A server for measurements does not need them.
        public var recordsRequests = true
        /// Whether every connection uses HTTP/2, even without TLS.
        public var speaksHTTP2 = false
        /// Whether HTTP/2 streams may switch to another protocol (RFC 8441).
        public var allowsConnectProtocol = true
        /// Called with the head, before the body is read and before an awaited `100 Continue` is sent. A returned
        /// response is sent at once, and ends the connection if the request has a body; in HTTP/2, it ends only the
        /// stream.
        public var beforeBody: (@Sendable (ServerRequest) throws -> ServerResponse?)?
        /// Returns the interim responses to send at once after the head, before the body is read. Called where
        /// `beforeBody` returns no response.
        public var interimResponses: (@Sendable (ServerRequest) throws -> [ServerResponse.Interim])?
        /// Receives the body's pieces as they arrive, instead of the request's `body`. It may block: the client then
        /// has to wait. An error ends the connection.
        public var receiveBody: (@Sendable (ServerRequest, UnsafeRawBufferPointer) throws -> Void)?

        /// Options for a server at an address; plain HTTP without `tls`.
        public init(_ address: LoopbackAddress = .ipv4(), tls: TLSServerOptions? = nil) {
            self.address = address
            self.tls = tls
        }
    }

    /// The address on which the server listens, with the port that the system selected.
    public let address: LoopbackAddress
    /// Whether its URLs are `https`.
    public let usesTLS: Bool
    /// Requests in the order in which they were complete, before their routes are called.
    public let requests = Recorder<ServerRequest>()
    /// The numbers of the connections, as they are accepted.
    public let openings = Recorder<Int>()
    /// The numbers of the connections, as they end.
    public let endings = Recorder<Int>()
    /// Failures on connections, such as a failed handshake or a malformed request.
    public let failures = Recorder<String>()
    private let acceptor: ConnectionAcceptor

    /// Makes a server that listens at once.
    public init(_ options: Options = Options(), route: @escaping Route) throws {
        let context = try options.tls.map { tls throws(OpenSSLError) in try TLSServerContext(tls) }
        let stopping = Signal()
        usesTLS = context != nil
        acceptor = try ConnectionAcceptor(options.address, backlog: options.backlog, stopping: stopping) {
            [requests, openings, endings, failures] socket, number in
            openings.append(number)
            do {
                if let context { try socket.startTLS(context) }
                try AcceptedConnection(
                    socket: socket, number: number, options: options, stopping: stopping,
                    requests: options.recordsRequests ? requests : nil, route: route
                ).serve()
            } catch {
                failures.append("connection \(number): \(error)")
                socket.end(because: error)
            }
            socket.close()
            endings.append(number)
        }
        address = acceptor.address
    }

    /// Makes a server with TLS.
    public convenience init(tls identity: ServerIdentity, route: @escaping Route) throws {
        try self.init(Options(tls: TLSServerOptions(identity)), route: route)
    }

    deinit { stop() }

    /// Ends every connection and every thread, and returns when they have ended. Must not be called from a route.
    public func stop() {
        acceptor.stop()
    }

    /// The URL of a resource on this server. With a Unix socket it is `http://localhost/…`.
    public func url(_ path: String = "/", host: String? = nil) -> String {
        let port = address.port.map { ":\($0)" } ?? ""
        return "\(usesTLS ? "https" : "http")://\(host ?? address.host)\(port)\(path)"
    }
}

/// A connection of a loopback server, with the server's settings.
struct AcceptedConnection {
    let socket: StreamSocket
    /// The number of the connection, from 0.
    let number: Int
    let options: LoopbackServer.Options
    /// Fires when the server stops.
    let stopping: Signal
    /// Nil where the server records no requests.
    let requests: Recorder<ServerRequest>?
    let route: LoopbackServer.Route

    /// Serves the client with the version of HTTP that was negotiated. Returns when the connection has to be closed.
    func serve() throws {
        if options.speaksHTTP2 || socket.tlsFacts?.applicationProtocol == "h2" {
            try HTTP2ServerConnection(self).serve()
        } else {
            try ServerConnection(self).serve()
        }
    }

    /// A request without a body.
    func request(_ method: String, _ target: String, _ fields: HTTPFields, number: Int) -> ServerRequest {
        ServerRequest(
            method: method, target: target, fields: fields, connection: self.number, number: number,
            tls: socket.tlsFacts, exchange: ServerExchange(socket: socket, stopping: stopping))
    }
}
