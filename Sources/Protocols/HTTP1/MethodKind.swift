/// What a request's method means for the framing of the response (RFC 9112 §6.3).
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
