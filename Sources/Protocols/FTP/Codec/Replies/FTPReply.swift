/// A server's answer to a command (RFC 959 §4.2): a code of three digits, and one line of text or more.
public struct FTPReply: Sendable, Hashable {
    /// The meaning of the code's first digit (RFC 959 §4.2.1).
    public enum Kind: Int, Sendable {
        /// The command is in progress; another reply follows.
        case preliminary = 1
        /// The command has completed.
        case completion
        /// The command was accepted, and another one is expected to complete it.
        case intermediate
        /// The command failed, and may succeed if the client sends it again.
        case transientFailure
        /// The command failed, and will fail again.
        case permanentFailure
    }

    /// The code, from 100 to 599.
    public let code: Int

    /// The lines of text, without codes and line ends, as the server sent them: UTF-8 if the server follows RFC 2640.
    /// There is at least one line, which may be empty.
    public let lines: [[UInt8]]

    /// The meaning of the code's first digit; nil if the code is not from 100 to 599.
    public var kind: Kind? { Kind(rawValue: code / 100) }

    /// A reply.
    public init(code: Int, lines: [[UInt8]]) {
        self.code = code
        self.lines = lines
    }
}
