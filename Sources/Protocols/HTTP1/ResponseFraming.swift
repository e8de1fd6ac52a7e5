import LoadingKitPrimitives

/// How a response's body ends, and what may come after it (RFC 9112 §6.3, §9.3).
struct ResponseFraming {
    var body: BodyFraming
    var sequel: MessageReader.Sequel
    var allowsReuse: Bool { sequel == .message }

    /// The framing of a response with these fields, of which `present` are there to frame it, to a request by that method.
    static func read(
        _ fields: HTTPFields, _ present: HTTPFields.Framing, status: Int, version: HTTPVersion, to method: MethodKind
    ) throws(HTTP1Error.Kind) -> ResponseFraming {
        let transferEncoding = present.hasTransferEncoding ? TransferEncoding(fields) : .absent
        if status == 101 || (method == .connect && 200..<300 ~= status) {
            // Case 2, and RFC 9110 §15.2.2: the connection is something else from here on.
            return ResponseFraming(body: .none, sequel: .anotherProtocol)
        }
        let length = transferEncoding == .absent ? try ContentLength.parse(fields, present.length) : nil
        let hasBody = method != .head && status != 204 && status != 304
        let body = try body(hasBody, length, transferEncoding)
        // A length besides the chunks, or chunks from HTTP/1.0, may be a trace of smuggling: §6.1, §11.2.
        let isFramingClean =
            switch transferEncoding {
            case .absent: body != .untilClose
            case .chunked: version.minor >= 1 && present.length == .absent
            case .other, .invalid: false
            }
        let isKept = isFramingClean && Persistence.isKept(version: version, fields: fields, present.connection)
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
