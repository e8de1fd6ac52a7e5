import LoadingKitPrimitives

/// A route's response. The server adds the fields for the body's framing and for the connection's end, unless `fields`
/// already contains them: then they are sent unchanged, whether they are correct or not.
public struct ServerResponse: Sendable {
    /// The part of the message after the head.
    public enum Body: Sendable {
        case bytes([UInt8])
        /// The closure writes the body piece by piece. An error that it throws ends the connection in the middle of the
        /// body.
        case stream(StreamFraming, @Sendable (ResponseBodyWriter) throws -> Void)
        /// After the head the closure owns the connection: for CONNECT and status 101. It is closed afterwards.
        case takeOver(@Sendable (StreamSocket) throws -> Void)
        /// After the head the closure owns the connection's bytes, or the stream's over HTTP/2: for status 101, and for
        /// extended CONNECT. It is ended afterwards.
        case tunnel(@Sendable (ServerTunnel) throws -> Void)

        /// Whether no further HTTP messages follow on the connection.
        var takesConnection: Bool {
            switch self {
            case .takeOver, .tunnel: true
            case .bytes, .stream: false
            }
        }
    }

    /// The way in which the end of a streamed body is marked (RFC 9112 §6).
    public enum StreamFraming: Sendable, Equatable {
        case length(UInt64)
        /// Chunks; for an HTTP/1.0 client the connection's end.
        case chunked
        case untilClose
    }

    /// An interim response (1xx), sent before the final one.
    public struct Interim: Sendable {
        /// 100 to 199.
        public var status: Int
        /// The fields of its head.
        public var fields: HTTPFields

        /// Makes an interim response with these fields.
        public init(_ status: Int, fields: HTTPFields = HTTPFields()) {
            self.status = status
            self.fields = fields
        }
    }

    /// The status code, which may be one that HTTP does not define.
    public var status: Int
    /// The reason phrase; nil for the usual one.
    public var reason: String?
    /// The fields of its head; the server adds the framing fields.
    public var fields: HTTPFields
    /// The body, empty by default.
    public var body: Body
    /// The trailer fields. Where there are any, the body is sent in chunks, followed by the fields. A stream may add
    /// fields.
    public var trailers = HTTPFields()
    /// The responses to send before this response.
    public var interim: [Interim] = []
    /// Whether the connection ends after this response, which then has `Connection: close`.
    public var closesConnection = false

    /// Makes a response with these fields and this body.
    public init(_ status: Int = 200, fields: HTTPFields = HTTPFields(), body: Body = .bytes([])) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    // MARK: Common responses

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> ServerResponse {
        bytes(Array(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// A response with a complete body.
    public static func bytes(
        _ bytes: [UInt8], type: String = "application/octet-stream", status: Int = 200
    ) -> ServerResponse {
        var response = ServerResponse(status, body: .bytes(bytes))
        response.fields.set(.contentType, type)
        return response
    }

    /// A response whose body the closure writes, piece by piece.
    public static func stream(
        _ framing: StreamFraming = .chunked, type: String = "application/octet-stream",
        _ body: @escaping @Sendable (ResponseBodyWriter) throws -> Void
    ) -> ServerResponse {
        var response = ServerResponse(body: .stream(framing, body))
        response.fields.set(.contentType, type)
        return response
    }

    /// A compressed response, regardless of the encodings that the request accepts.
    public static func gzip(_ bytes: [UInt8], type: String = "text/plain; charset=utf-8") throws -> ServerResponse {
        var response = ServerResponse.bytes(try Gzip.compress(bytes), type: type)
        response.fields.set(.contentEncoding, "gzip")
        return response
    }

    /// A redirect without a body; `location` is sent as it is.
    public static func redirect(to location: String, status: Int = 302) -> ServerResponse {
        ServerResponse(status).adding("Location", location)
    }

    /// The same response with one more field line.
    public func adding(_ name: String, _ value: String) -> ServerResponse {
        var response = self
        response.fields.append(name: name, value: value)
        return response
    }

    /// The same response, with the end of the connection after it.
    public func closing() -> ServerResponse {
        var response = self
        response.closesConnection = true
        return response
    }
}

/// A route's access to a connection, or to one of its streams, that has switched to another protocol. Used on the
/// connection's thread.
public struct ServerTunnel {
    let receive: () throws -> [UInt8]
    let send: ([UInt8]) throws -> Void

    /// Blocks until there are bytes; empty when the client has ended its side.
    public func read() throws -> [UInt8] { try receive() }

    /// Blocks until the bytes have been sent.
    public func write(_ bytes: [UInt8]) throws { try send(bytes) }
}
