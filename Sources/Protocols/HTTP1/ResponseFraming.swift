import LoadingKitPrimitives

/// How a response's body ends, and what may come after it (RFC 9112 §6.3, §9.3).
struct ResponseFraming {
    var body: BodyFraming
    var sequel: MessageReader.Sequel
    var allowsReuse: Bool { sequel == .message }

    init(
        status: Int, version: HTTPVersion, fields: HTTPFields, to method: MethodKind
    ) throws(HTTP1Error.Kind) {
        let present = fields.framing
        let transferEncoding = present.contains(.transferEncoding) ? TransferEncoding(fields) : .absent
        if status == 101 || (method == .connect && 200..<300 ~= status) {
            // Case 2, and RFC 9110 §15.2.2: the connection is something else from here on.
            body = .none
            sequel = .anotherProtocol
            return
        }
        let length =
            transferEncoding == .absent && present.contains(.contentLength)
            ? try ContentLength.parse(fields) : nil
        let hasBody = method != .head && status != 204 && status != 304
        body = try Self.body(hasBody, length, transferEncoding)
        // A length besides the chunks, or chunks from HTTP/1.0, may be a trace of smuggling: §6.1, §11.2.
        let isFramingClean =
            switch transferEncoding {
            case .absent: body != .untilClose
            case .chunked: version.minor >= 1 && !present.contains(.contentLength)
            case .other, .invalid: false
            }
        let isKept =
            isFramingClean
            && (present.contains(.connection)
                ? Persistence.isKept(version: version, fields: fields) : version.minor >= 1)
        sequel = isKept ? .message : .nothing
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
