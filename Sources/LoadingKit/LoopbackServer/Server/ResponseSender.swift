import LoadingKitHTTP1
import LoadingKitPrimitives

/// Sends one request's response.
struct ResponseSender {
    let socket: StreamSocket
    /// Nil where none could be read.
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
        // An HTTP/1.0 client knows no interim responses (RFC 9110 §15.2).
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

    /// A body up to this size goes out by the head's system call.
    private static let joinedBytes = 65536

    private func stream(
        _ response: ServerResponse, _ framing: ResponseFraming, _ write: (ResponseBodyWriter) throws -> Void
    ) throws {
        guard let request, framing != .none else { return }
        let writer = ResponseBodyWriter(request, socket, framing, trailers: response.trailers)
        try write(writer)
        try writer.finish()
    }

    private func allowsAnother(after response: ServerResponse, _ framing: ResponseFraming) -> Bool {
        guard allowsReuse, !response.closesConnection, framing != .untilClose else { return false }
        if response.body.takesConnection { return false }
        return true
    }

    private func fields(
        of response: ServerResponse, _ framing: ResponseFraming, _ mayContinue: Bool
    ) -> HTTPFields {
        var fields = response.fields
        let isFramed = fields.contains(.contentLength) || fields.contains(.transferEncoding)
        if let field = framing.field, !isFramed { fields.append(field.name, field.value) }
        guard !fields.contains(.connection) else { return fields }
        if response.body.takesConnection { return fields }
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
