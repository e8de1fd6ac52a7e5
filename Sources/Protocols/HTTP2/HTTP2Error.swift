/// Why bytes received are not HTTP/2, or why something cannot be sent.
public struct HTTP2Error: Error, Sendable, Equatable {
    /// What an error ends (RFC 9113 §5.4).
    public enum Scope: Sendable, Hashable {
        /// The connection, with a GOAWAY frame.
        case connection
        /// One stream, with a RST_STREAM frame; the connection goes on.
        case stream(HTTP2StreamID)
        /// Nothing: what was asked for was not done, and no byte was sent.
        case call
    }

    /// Who can do something about it.
    public enum Fault: Sendable, Hashable {
        /// The program that uses this module: it asked for what may not be sent.
        case user
        /// This module, or what it was told to allow.
        case library
        /// The other side of the connection.
        case peer
    }

    /// What is wrong.
    public var kind: Kind
    /// What ends because of it.
    public var scope: Scope
    /// The code that the peer is sent, or that the peer sent.
    public var code: HTTP2ErrorCode

    /// An error with the code that its kind has by itself.
    public init(_ kind: Kind, _ scope: Scope = .connection) {
        self.init(kind, scope, code: kind.code)
    }

    /// An error with a code of its own.
    public init(_ kind: Kind, _ scope: Scope, code: HTTP2ErrorCode) {
        self.kind = kind
        self.scope = scope
        self.code = code
    }

    /// Whose fault it is.
    public var fault: Fault { kind.fault }
}

extension HTTP2Error: CustomStringConvertible {
    /// The error in plain words, with the RFC's name for its code.
    public var description: String {
        switch scope {
        case .connection: "\(kind.words) (\(code), connection)"
        case .stream(let stream): "\(kind.words) (\(code), stream \(stream))"
        case .call: kind.words
        }
    }
}
