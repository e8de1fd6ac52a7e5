import LoadingKitHTTP1
import LoadingKitPrimitives

/// Sends one request's response.
struct ResponseSender {
    let socket: StreamSocket
    /// Nil where no request could be read.
    let request: ServerRequest?
    let isHTTP10: Bool
    /// Whether the request leaves the connection open (RFC 9112 §9.3).
    let allowsReuse: Bool

    init(
        socket: StreamSocket, request: ServerRequest?, version: HTTPVersion = .http1_1, allowsReuse: Bool = false
    ) {
        self.socket = socket
        self.request = request
        self.allowsReuse = allowsReuse
        isHTTP10 = version == .http1_0
    }

    func sendInterim(_ interim: ServerResponse.Interim) throws {
        // An HTTP/1.0 client does not understand interim responses (RFC 9110 §15.2).
        guard !isHTTP10 else { return }
        try socket.write(try head(interim.status, nil, interim.fields))
    }

    /// Whether the connection may carry another request afterwards.
    @discardableResult
    func send(_ response: ServerResponse) throws -> Bool {
        for interim in response.interim { try sendInterim(interim) }
        let framing = ResponseFraming(response, isHTTP10: isHTTP10)
        let mayContinue = allowsAnother(after: response, framing)
        var bytes = try head(response.status, response.reason, fields(of: response, framing, mayContinue))
        if request?.method == "HEAD" {
            try socket.write(bytes)
            return mayContinue
        }
        switch response.body {
        case .bytes(let body) where framing == .none || body.isEmpty && framing != .chunked:
            try socket.write(bytes)
        case .bytes(let body) where framing != .chunked && body.count <= Self.joinedBytes:
            bytes += body
            try socket.write(bytes)
        case .bytes(let body):
            try socket.write(bytes)
            try stream(response, framing) { try $0.write(body) }
        case .stream(_, let write):
            try socket.write(bytes)
            try stream(response, framing, write)
        case .takeOver(let run):
            try socket.write(bytes)
            try run(socket)
        case .tunnel(let run):
            try socket.write(bytes)
            try run(
                ServerTunnel(receive: { [socket] in try socket.read() }, send: { [socket] in try socket.write($0) }))
        }
        return mayContinue
    }

    /// The largest body, in bytes, that is sent with the head in one system call.
    private static let joinedBytes = 65536

    private func stream(
        _ response: ServerResponse, _ framing: ResponseFraming, _ write: (ResponseBodyWriter) throws -> Void
    ) throws {
        guard let request, framing != .none else { return }
        let writer = ResponseBodyWriter(
            request, framing, trailers: response.trailers, send: { [socket] in try socket.write($0) },
            waitUntilClosed: request.exchange.waitUntilClientCloses)
        try write(writer)
        try writer.finish()
    }

    private func allowsAnother(after response: ServerResponse, _ framing: ResponseFraming) -> Bool {
        allowsReuse && !response.closesConnection && framing != .untilClose && !response.body.takesConnection
    }

    private func fields(
        of response: ServerResponse, _ framing: ResponseFraming, _ mayContinue: Bool
    ) -> HTTPFields {
        var fields = response.fields
        let isFramed = fields.contains(.contentLength) || fields.contains(.transferEncoding)
        if let field = framing.field, !isFramed { fields.append(field.name, field.value) }
        if fields.contains(.connection) || response.body.takesConnection { return fields }
        if !mayContinue {
            fields.append(.connection, "close")
        } else if isHTTP10 {
            fields.append(.connection, "keep-alive")
        }
        return fields
    }

    private func head(_ status: Int, _ reason: String?, _ fields: HTTPFields) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try ResponseWriter().writeHead(
            status: status, reason: reason ?? ReasonPhrase.of(status), fields: fields, into: &bytes)
        return bytes
    }
}

/// The framing of one response's body on the connection.
enum ResponseFraming: Equatable {
    /// There is no body, regardless of the response's fields (HEAD, 204, 304).
    case none
    case length(UInt64)
    case chunked
    case untilClose

    /// Determines the framing by RFC 9112 §6.3, for the sender.
    init(_ response: ServerResponse, isHTTP10: Bool) {
        if response.status == 204 || response.status == 304 {
            self = .none
            return
        }
        switch response.body {
        case .bytes(let bytes) where response.trailers.isEmpty:
            self = .length(UInt64(bytes.count))
        case .bytes, .stream(.chunked, _):
            // An HTTP/1.0 client does not understand chunks (RFC 9112 §7).
            self = isHTTP10 ? .untilClose : .chunked
        case .stream(.length(let count), _):
            self = .length(count)
        case .stream(.untilClose, _):
            self = .untilClose
        case .takeOver, .tunnel:
            self = .none
        }
    }

    /// The field that declares the framing.
    var field: (name: KnownField, value: String)? {
        switch self {
        case .none, .untilClose: nil
        case .length(let count): (.contentLength, String(count))
        case .chunked: (.transferEncoding, "chunked")
        }
    }
}

/// The usual reason phrases of statuses (RFC 9110 §15); clients ignore them.
enum ReasonPhrase {
    static func of(_ status: Int) -> String {
        phrases[status] ?? ""
    }

    private static let phrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 205: "Reset Content", 206: "Partial Content",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed", 418: "(Unused)",
        421: "Misdirected Request", 422: "Unprocessable Content", 426: "Upgrade Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
