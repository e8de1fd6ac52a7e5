import LoadingKitPrimitives

/// How one response's body goes over the connection.
enum ResponseFraming: Equatable {
    /// There is no body, whatever the response says (HEAD, 204, 304).
    case none
    case length(UInt64)
    case chunked
    case untilClose

    /// RFC 9112 §6.3, from the sender's side.
    init(_ response: ServerResponse, isHTTP10: Bool) {
        if response.status == 204 || response.status == 304 {
            self = .none
            return
        }
        switch response.body {
        case .bytes(let bytes) where response.trailers.isEmpty:
            self = .length(UInt64(bytes.count))
        case .bytes, .stream(.chunked, _):
            // An HTTP/1.0 client knows no chunks (RFC 9112 §7).
            self = isHTTP10 ? .untilClose : .chunked
        case .stream(.length(let count), _):
            self = .length(count)
        case .stream(.untilClose, _):
            self = .untilClose
        case .takeOver, .tunnel:
            self = .none
        }
    }

    /// The field that announces it.
    var field: (name: KnownField, value: String)? {
        switch self {
        case .none, .untilClose: nil
        case .length(let count): (.contentLength, String(count))
        case .chunked: (.transferEncoding, "chunked")
        }
    }
}
