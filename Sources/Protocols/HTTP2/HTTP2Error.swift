/// What is wrong with what a peer sent, or with what was to be sent to it.
public struct HTTP2Error: Error, Sendable, Hashable {
    /// What the error ends.
    public enum Scope: Sendable, Hashable {
        /// Everything: GOAWAY, and the connection is closed (RFC 9113 §5.4.1).
        case connection
        /// One stream: RST_STREAM (RFC 9113 §5.4.2).
        case stream(UInt32)
        /// Nothing: the caller asked for what cannot be done; nothing was sent.
        case call
    }

    /// What it ends.
    public var scope: Scope
    /// What RST_STREAM or GOAWAY says of it.
    public var code: HTTP2ErrorCode
    /// In plain words.
    public var reason: String

    /// An error with its reason in plain words.
    public init(_ scope: Scope, _ code: HTTP2ErrorCode, _ reason: String) {
        self.scope = scope
        self.code = code
        self.reason = reason
    }

    static func connection(_ code: HTTP2ErrorCode, _ reason: String) -> HTTP2Error {
        HTTP2Error(.connection, code, reason)
    }

    static func stream(_ stream: UInt32, _ code: HTTP2ErrorCode, _ reason: String) -> HTTP2Error {
        HTTP2Error(.stream(stream), code, reason)
    }

    static func call(_ reason: String) -> HTTP2Error { HTTP2Error(.call, .internalError, reason) }
}

extension HTTP2Error: CustomStringConvertible {
    /// What is wrong, where, and the code.
    public var description: String {
        switch scope {
        case .connection: "HTTP/2 connection: \(reason) (\(code))"
        case .stream(let stream): "HTTP/2 stream \(stream): \(reason) (\(code))"
        case .call: "HTTP/2: \(reason)"
        }
    }
}
