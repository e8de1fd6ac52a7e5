import LoadingKitPrimitives

/// The reasons why a control connection, or a command, cannot be used.
public enum FTPError: Error, Sendable, Hashable {
    /// A line of a reply is longer than ``FTPLimits/lineLength``, or a line of a listing than
    /// ``FTPLimits/listingLineLength``.
    case lineTooLong(limit: Int)
    /// A reply has more lines than ``FTPLimits/replyLines``, or more empty lines before it.
    case tooManyLines(limit: Int)
    /// A reply is longer than ``FTPLimits/replyLength``.
    case replyTooLong(limit: Int)
    /// A command was answered with more than ``FTPLimits/preliminaryReplies`` preliminary replies.
    case tooManyPreliminaryReplies(limit: Int)
    /// A line does not have a reply's form: three digits, then a space or a hyphen.
    case malformedReply([UInt8])
    /// An argument of a command contains CR, LF or NUL, which would end the command and begin another one.
    case invalidArgument(command: String)
    /// A URL's path contains an octet that file names must not have (CR, LF or NUL), or a `%` without two hexadecimal
    /// digits.
    case invalidPath
    /// The type in a URL is not `a`, `i` or `d` (RFC 1738 §3.2.2).
    case invalidType(String)
}

extension FTPError: CustomStringConvertible {
    /// A description in plain words, with the limit's name.
    public var description: String {
        switch self {
        case .lineTooLong(let limit):
            "a line that the server sent has more than \(limit) bytes (lineLength, or listingLineLength in a listing)"
        case .tooManyLines(let limit): "the server's reply has more than \(limit) lines (replyLines)"
        case .replyTooLong(let limit): "the server's reply has more than \(limit) bytes (replyLength)"
        case .tooManyPreliminaryReplies(let limit):
            "the server sent more than \(limit) preliminary replies to a command (preliminaryReplies)"
        case .malformedReply(let line): "the server sent bytes that are not a reply: “\(FTPText.string(line))”"
        case .invalidArgument(let command): "an argument of \(command) has CR, LF or NUL in it"
        case .invalidPath: "the URL's path has CR, LF, NUL, or a % that encodes nothing"
        case .invalidType(let text): "the URL's type “\(text)” is none of a, i and d"
        }
    }
}

extension FTPError: LayerError {
    package var category: LayerErrorCategory {
        switch self {
        case .lineTooLong, .tooManyLines, .replyTooLong, .tooManyPreliminaryReplies: .tooLong
        case .malformedReply: .unparsableResponse
        case .invalidArgument, .invalidPath, .invalidType: .invalidRequest
        }
    }
}

/// Converts bytes that a server sent to text for messages.
enum FTPText {
    /// The maximum number of bytes of a server's text that a message shows.
    private static let maximumLength = 200

    /// The text without control characters, which a terminal might interpret.
    static func string(_ bytes: some Collection<UInt8>) -> String {
        let shown = String(decoding: bytes.prefix(maximumLength), as: UTF8.self)
        let safe = shown.unicodeScalars.map { scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? " " : Character(scalar)
        }
        return String(safe) + (bytes.count > maximumLength ? "…" : "")
    }
}
