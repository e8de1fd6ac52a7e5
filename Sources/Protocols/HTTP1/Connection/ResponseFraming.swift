import LoadingKitPrimitives

/// The framing of a response's body, and the messages that may follow it (RFC 9112 §6.3, §9.3).
struct ResponseFraming {
    var body: BodyFraming
    var sequel: MessageReader.NextMessage
    var allowsReuse: Bool { sequel == .message }

    /// The framing of a final response whose framing fields contain at most a length and `keep-alive`, as in most
    /// responses. Nil for any other response, and for a response to CONNECT.
    @inline(__always)
    init?(plain present: HTTPFields.Framing, _ line: StartLine, to method: MethodKind) {
        guard !present.hasTransferEncoding, line.status >= 200, method != .connect else { return nil }
        switch present.connection {
        case .unclear: return nil
        case .absent: sequel = line.minorVersion >= 1 ? .message : .nothing
        case .keepAlive: sequel = .message
        }
        let hasBody = method != .head && line.status != 204 && line.status != 304
        switch present.length {
        case .unclear: return nil
        case .absent where hasBody: return nil
        case .absent: body = .none
        case .number(let length): body = hasBody ? .length(length) : .none
        }
    }

    private init(body: BodyFraming, sequel: MessageReader.NextMessage) {
        self.body = body
        self.sequel = sequel
    }

    /// The framing of a response with `fields`, whose framing fields `present` summarises, to a request with `method`.
    static func read(
        _ fields: HTTPFields, _ present: HTTPFields.Framing, _ line: StartLine, to method: MethodKind
    ) throws(HTTP1Error.Kind) -> ResponseFraming {
        let transferEncoding = present.hasTransferEncoding ? TransferEncoding(fields) : .absent
        if line.status == 101 || (method == .connect && 200..<300 ~= line.status) {
            // Case 2, and RFC 9110 §15.2.2: the connection switches after this response.
            return ResponseFraming(body: .none, sequel: .anotherProtocol)
        }
        let length = transferEncoding == .absent ? try ContentLength.parse(fields, present.length) : nil
        let hasBody = method != .head && line.status != 204 && line.status != 304
        let body = try body(hasBody, length, transferEncoding)
        // A length beside chunks, or chunks from HTTP/1.0, may indicate smuggling: §6.1, §11.2.
        let isFramingClean =
            switch transferEncoding {
            case .absent: body != .untilClose
            case .chunked: line.version.minor >= 1 && present.length == .absent
            case .other, .invalid: false
            }
        let isKept =
            isFramingClean
            && Persistence.isKept(
                version: line.version, fields: fields, present.connection)
        return ResponseFraming(body: body, sequel: isKept ? .message : .nothing)
    }

    private static func body(
        _ hasBody: Bool, _ length: UInt64?, _ transferEncoding: TransferEncoding
    ) throws(HTTP1Error.Kind) -> BodyFraming {
        switch transferEncoding {
        case .invalid: throw .invalidTransferEncoding
        case .chunked: return hasBody ? .chunked : .none
        case .other: return hasBody ? .untilClose : .none
        case .absent: return hasBody ? length.map { .length($0) } ?? .untilClose : .none
        }
    }
}

/// The way in which the end of a message's body is found (RFC 9112 §6.3).
public enum BodyFraming: Sendable, Equatable {
    /// There is no body.
    case none
    /// The body has this number of bytes, as stated in `Content-Length`; it may be 0.
    case length(UInt64)
    /// The body arrives in chunks. The last chunk is empty (RFC 9112 §7.1).
    case chunked
    /// The body ends when the peer closes the connection. Only for responses.
    case untilClose
}

/// The kind of a request's method, as far as it affects the framing of the response (RFC 9112 §6.3).
enum MethodKind: Sendable {
    case head, connect, other

    init(_ method: String) {
        switch method {
        case "HEAD": self = .head
        case "CONNECT": self = .connect
        case _: self = .other
        }
    }
}

/// Whether a connection stays open after a message (RFC 9112 §9.3).
enum Persistence {
    /// `close` ends the connection. HTTP/1.0 requires `keep-alive`. Otherwise HTTP/1.1 keeps the connection.
    @inline(__always)
    static func isKept(
        version: HTTPVersion, fields: HTTPFields, _ connection: HTTPFields.Framing.Connection
    ) -> Bool {
        switch connection {
        case .absent: version.minor >= 1
        case .keepAlive: true
        case .unclear: isKept(version: version, options: fields)
        }
    }

    private static func isKept(version: HTTPVersion, options fields: HTTPFields) -> Bool {
        var close = false
        var keepAlive = false
        FieldList.forEach(.connection, in: fields) { option in
            if ASCII.equalsIgnoringCase(option, "close") { close = true }
            if ASCII.equalsIgnoringCase(option, "keep-alive") { keepAlive = true }
        }
        return !close && (version.minor >= 1 || keepAlive)
    }
}
