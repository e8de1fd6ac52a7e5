/// A server's answer to a command (RFC 959 §4.2): a code of three digits, and one line of text or more.
public struct FTPReply: Sendable, Hashable {
    /// What the first digit says about the command.
    public enum Kind: Int, Sendable {
        /// The command goes on; another reply follows.
        case preliminary = 1
        /// The command is done.
        case completion
        /// The command was accepted, and another one is expected to complete it.
        case intermediate
        /// The command was not done; it may be when sent again.
        case transientFailure
        /// The command was not done, and will not be.
        case permanentFailure
    }

    /// The code, from 100 to 599.
    public let code: Int

    /// The lines of text, without codes and line ends: at least one, which may be empty. As the server sent them: UTF-8
    /// where it keeps to RFC 2640.
    public let lines: [[UInt8]]

    /// What the code's first digit says; nil where the code is not from 100 to 599.
    public var kind: Kind? { Kind(rawValue: code / 100) }

    /// A reply.
    public init(code: Int, lines: [[UInt8]]) {
        self.code = code
        self.lines = lines
    }
}
