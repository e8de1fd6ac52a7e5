import LoadingKitPrimitives

/// How a response's body ends, and what may come after it (RFC 9112 §6.3, §9.3).
struct ResponseFraming {
    var body: BodyFraming
    var sequel: MessageReader.Sequel
    var allowsReuse: Bool { sequel == .message }

    init(of head: ResponseHead, to method: MethodKind) throws(HTTP1Error.Kind) {
        let transferEncoding = TransferEncoding(head.fields)
        if head.status == 101 || (method == .connect && 200..<300 ~= head.status) {
            // Case 2, and RFC 9110 §15.2.2: the connection is something else from here on.
            body = .none
            sequel = .anotherProtocol
            return
        }
        body = try Self.body(of: head, to: method, transferEncoding)
        // A length besides the chunks, or chunks from HTTP/1.0, may be a trace of smuggling: §6.1, §11.2.
        let isFramingClean =
            switch transferEncoding {
            case .absent: body != .untilClose
            case .chunked: head.version.minor >= 1 && !head.fields.contains(.contentLength)
            case .other, .invalid: false
            }
        let isKept = isFramingClean && Persistence.isKept(version: head.version, fields: head.fields)
        sequel = isKept ? .message : .nothing
    }

    private static func body(
        of head: ResponseHead, to method: MethodKind, _ transferEncoding: TransferEncoding
    ) throws(HTTP1Error.Kind) -> BodyFraming {
        let hasBody = method != .head && head.status != 204 && head.status != 304
        switch transferEncoding {
        case .invalid: throw .invalidTransferEncoding
        case .chunked: return hasBody ? .chunked : .none
        case .other: return hasBody ? .untilClose : .none
        case .absent:
            let length = try ContentLength.parse(head.fields)
            guard hasBody else { return .none }
            return length.map { .length($0) } ?? .untilClose
        }
    }
}
