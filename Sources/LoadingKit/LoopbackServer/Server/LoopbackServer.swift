import Glibc
import LoadingKitPrimitives

/// An HTTP/1.1 origin server, with HTTP/2 where its TLS options have ALPN choose `h2`, on a loopback address or a Unix
/// socket, for tests and for the demo. Each connection has a thread, which blocks. When the server is stopped, nothing is left.
///
///     let server = try LoopbackServer { request in .text("You asked for \(request.target)") }
///     defer { server.stop() }
public final class LoopbackServer: Sendable {
    /// Answers a request, on its connection's thread. An error ends the connection without an answer.
    public typealias Route = @Sendable (ServerRequest) throws -> ServerResponse

    /// How a server listens and receives.
    public struct Options: Sendable {
        /// IPv4 on any free port by default.
        public var address: LoopbackAddress = .ipv4()
        /// Nil for plain HTTP.
        public var tls: TLSServerOptions?
        /// How many connections the system may complete that are not accepted yet.
        public var backlog: Int32 = SOMAXCONN
        /// Whether `requests` keeps the requests. A server for measurements does not need them.
        public var recordsRequests = true
        /// Whether every connection is of HTTP/2, without TLS too.
        public var speaksHTTP2 = false
        /// Whether streams of HTTP/2 may switch to another protocol (RFC 8441).
        public var allowsConnectProtocol = true
        /// Called with the head, before the body is read and before an awaited `100 Continue` is sent. A response here
        /// is sent at once, and ends the connection if the request has a body; in HTTP/2, the stream alone.
        public var beforeBody: (@Sendable (ServerRequest) throws -> ServerResponse?)?
        /// Gives the interim responses that are sent as soon as the head is there, before the body is read. Called where
        /// `beforeBody` gives no response.
        public var interimResponses: (@Sendable (ServerRequest) throws -> [ServerResponse.Interim])?
        /// Gets the body's pieces as they come, instead of the request's `body`. May block: the client has to wait. An error
        /// ends the connection.
        public var receiveBody: (@Sendable (ServerRequest, UnsafeRawBufferPointer) throws -> Void)?

        /// A server at an address; plain HTTP without `tls`.
        public init(_ address: LoopbackAddress = .ipv4(), tls: TLSServerOptions? = nil) {
            self.address = address
            self.tls = tls
        }
    }

    /// Where it listens, with the port that the system chose.
    public let address: LoopbackAddress
    /// Whether its URLs are `https`.
    public let usesTLS: Bool
    /// Requests in the order in which they were complete, before their routes are called.
    public let requests = Recorder<ServerRequest>()
    /// The numbers of the connections, as they are accepted.
    public let openings = Recorder<Int>()
    /// The numbers of the connections, as they end.
    public let endings = Recorder<Int>()
    /// What went wrong on connections, such as a handshake that failed or a request that was malformed.
    public let failures = Recorder<String>()
    private let acceptor: ConnectionAcceptor

    /// Listens at once.
    public init(_ options: Options = Options(), route: @escaping Route) throws {
        let context = try options.tls.map { tls throws(OpenSSLError) in try TLSServerContext(tls) }
        let stopping = Signal()
        usesTLS = context != nil
        acceptor = try ConnectionAcceptor(options.address, backlog: options.backlog, stopping: stopping) {
            [requests, openings, endings, failures] socket, number in
            openings.append(number)
            do {
                if let context { try socket.startTLS(context) }
                let recorder = options.recordsRequests ? requests : nil
                if options.speaksHTTP2 || socket.tlsFacts?.applicationProtocol == "h2" {
                    try HTTP2ServerConnection(
                        socket: socket, number: number, options: options, stopping: stopping, requests: recorder,
                        route: route
                    ).serve()
                } else {
                    try ServerConnection(
                        socket: socket, number: number, options: options, stopping: stopping, requests: recorder,
                        route: route
                    ).serve()
                }
            } catch {
                failures.append("connection \(number): \(error)")
                socket.closeWithoutNotify()
            }
            socket.close()
            endings.append(number)
        }
        address = acceptor.address
    }

    /// With TLS.
    public convenience init(tls identity: ServerIdentity, route: @escaping Route) throws {
        try self.init(Options(tls: TLSServerOptions(identity)), route: route)
    }

    deinit { stop() }

    /// Ends every connection and every thread, and returns when they have ended. Not to be called from a route.
    public func stop() {
        acceptor.stop()
    }

    /// The address of a resource here. A Unix socket's is `http://localhost/…`.
    public func url(_ path: String = "/", host: String? = nil) -> String {
        let port = address.port.map { ":\($0)" } ?? ""
        return "\(usesTLS ? "https" : "http")://\(host ?? address.host)\(port)\(path)"
    }
}
