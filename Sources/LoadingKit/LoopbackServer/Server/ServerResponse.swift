import LoadingKitPrimitives

/// What a route answers. The server adds the fields for the body's framing and for the connection's end, unless they
/// are among `fields` already: then they are sent as they are, true or not.
public struct ServerResponse: Sendable {
    /// What follows the head.
    public enum Body: Sendable {
        case bytes([UInt8])
        /// Written piece by piece. An error that the closure throws ends the connection in the middle of the body.
        case stream(StreamFraming, @Sendable (ResponseBodyWriter) throws -> Void)
        /// After the head the connection is the closure's: for CONNECT and status 101. It is closed afterwards.
        case takeOver(@Sendable (StreamSocket) throws -> Void)
        /// After the head the connection's bytes, or the stream's over HTTP/2, are the closure's: for status 101, and for
        /// extended CONNECT. It is ended afterwards.
        case tunnel(@Sendable (ServerTunnel) throws -> Void)

        /// Whether no HTTP follows on the connection.
        var takesConnection: Bool {
            switch self {
            case .takeOver, .tunnel: true
            case .bytes, .stream: false
            }
        }
    }

    /// How the end of a streamed body is marked (RFC 9112 §6).
    public enum StreamFraming: Sendable, Equatable {
        case length(UInt64)
        /// Chunks; for an HTTP/1.0 client until the connection's end.
        case chunked
        case untilClose
    }

    /// An interim response (1xx), sent before the final one.
    public struct Interim: Sendable {
        /// 100 to 199.
        public var status: Int
        /// The fields of its head.
        public var fields: HTTPFields

        /// An interim response with these fields.
        public init(_ status: Int, fields: HTTPFields = HTTPFields()) {
            self.status = status
            self.fields = fields
        }
    }

    /// The status code, also one that HTTP does not know.
    public var status: Int
    /// Nil for the usual one.
    public var reason: String?
    /// The fields of its head; the server adds those of the framing.
    public var fields: HTTPFields
    /// Empty by default.
    public var body: Body
    /// Not empty: the body is sent in chunks, with these after them. A stream may add to them.
    public var trailers = HTTPFields()
    /// What is sent before this response.
    public var interim: [Interim] = []
    /// Whether the connection ends after this response, which says so.
    public var closesConnection = false

    /// A response with these fields and this body.
    public init(_ status: Int = 200, fields: HTTPFields = HTTPFields(), body: Body = .bytes([])) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    // MARK: Usual ones

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> ServerResponse {
        bytes(Array(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// A body that is known whole.
    public static func bytes(
        _ bytes: [UInt8], type: String = "application/octet-stream", status: Int = 200
    ) -> ServerResponse {
        var response = ServerResponse(status, body: .bytes(bytes))
        response.fields.set(.contentType, type)
        return response
    }

    /// A body that the closure writes, piece by piece.
    public static func stream(
        _ framing: StreamFraming = .chunked, type: String = "application/octet-stream",
        _ body: @escaping @Sendable (ResponseBodyWriter) throws -> Void
    ) -> ServerResponse {
        var response = ServerResponse(body: .stream(framing, body))
        response.fields.set(.contentType, type)
        return response
    }

    /// Compressed, whatever the request accepts.
    public static func gzip(_ bytes: [UInt8], type: String = "text/plain; charset=utf-8") throws -> ServerResponse {
        var response = ServerResponse.bytes(try Gzip.compress(bytes), type: type)
        response.fields.set(.contentEncoding, "gzip")
        return response
    }

    /// A redirect without a body; `location` is sent as it is.
    public static func redirect(to location: String, status: Int = 302) -> ServerResponse {
        ServerResponse(status).adding("Location", location)
    }

    /// With one more field line.
    public func adding(_ name: String, _ value: String) -> ServerResponse {
        var response = self
        response.fields.append(name: name, value: value)
        return response
    }

    /// With the connection's end after it.
    public func closing() -> ServerResponse {
        var response = self
        response.closesConnection = true
        return response
    }
}

/// What a route has of a connection, or of a stream of one, that has switched to another protocol. Used on the
/// connection's thread.
public struct ServerTunnel {
    let receive: () throws -> [UInt8]
    let send: ([UInt8]) throws -> Void

    /// Blocks until there are bytes; empty when the client has ended its side.
    public func read() throws -> [UInt8] { try receive() }

    /// Blocks until the bytes have been sent.
    public func write(_ bytes: [UInt8]) throws { try send(bytes) }
}
