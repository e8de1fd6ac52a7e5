import LoadingKitPrimitives

/// Parses the replies on a control connection (RFC 959 §4.2). The bytes may be divided at any position.
///
///     226 Transfer complete.
///     211-Features:
///      SIZE
///     211 End
///
/// A reply of several lines ends with a line that begins with the same code and a space. A line ends with LF; a CR
/// before the LF is not part of the line.
public struct FTPReplyParser: Sendable {
    private enum State {
        case betweenReplies
        /// The lines that follow belong to a reply with this code.
        case inReply(code: Int, lines: [[UInt8]], length: Int)
        /// The bytes were not a valid reply; nothing more can be parsed.
        case failed(FTPError)
    }

    private let limits: FTPLimits
    private var state = State.betweenReplies
    /// The bytes of the current line received so far.
    private var line: [UInt8] = []
    /// The number of empty lines since the last reply.
    private var emptyLines = 0

    /// A parser for one connection.
    public init(limits: FTPLimits = FTPLimits()) { self.limits = limits }

    /// Whether no part of an incomplete reply has been received.
    public var isBetweenReplies: Bool { if case .betweenReplies = state { line.isEmpty } else { false } }

    /// The error that ended the parsing, or nil. ``receive(_:)`` returns complete replies that precede the error in the
    /// same bytes before it throws the error.
    public var failure: FTPError? { if case .failed(let error) = state { error } else { nil } }

    /// Parses bytes, and returns the replies that they complete. After the call, ``failure`` is not nil if invalid
    /// bytes follow these replies. After an error every call throws the same error.
    public mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(FTPError) -> [FTPReply] {
        if case .failed(let error) = state { throw error }
        var replies: [FTPReply] = []
        do throws(FTPError) {
            var rest = bytes[...]
            while let end = rest.firstIndex(of: ASCII.lineFeed) {
                try append(rest[..<end])
                rest = rest[(end + 1)...]
                if line.last == ASCII.carriageReturn { line.removeLast() }
                if let reply = try endLine() {
                    replies.append(reply)
                    emptyLines = 0
                }
                line.removeAll(keepingCapacity: true)
            }
            try append(rest)
        } catch {
            // The replies before the error are complete, and answer the commands that wait for them.
            state = .failed(error)
            if replies.isEmpty { throw error }
        }
        return replies
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) throws(FTPError) {
        // The limit does not include the CR, which takes one more byte.
        guard bytes.count - 1 <= limits.lineLength - line.count else { throw .lineTooLong(limit: limits.lineLength) }
        line.append(contentsOf: bytes)
    }

    private mutating func endLine() throws(FTPError) -> FTPReply? {
        guard line.count <= limits.lineLength else { throw .lineTooLong(limit: limits.lineLength) }
        switch state {
        case .betweenReplies:
            // Some servers end a reply with an empty line.
            if line.isEmpty {
                emptyLines += 1
                try check(lines: emptyLines, length: 0)
                return nil
            }
            guard let start = LineStart(line) else { throw .malformedReply(line) }
            try check(lines: 1, length: start.text.count)
            guard start.isContinued else { return FTPReply(code: start.code, lines: [start.text]) }
            state = .inReply(code: start.code, lines: [start.text], length: start.text.count)
            return nil
        case .inReply(let code, var lines, let length):
            // The state must not refer to the lines here: otherwise each appended line would copy the array.
            state = .betweenReplies
            let start = LineStart(line)
            let isLast = start?.code == code && start?.isContinued == false
            let text = isLast ? start?.text ?? [] : line
            try check(lines: lines.count + 1, length: length + text.count)
            lines.append(text)
            if isLast { return FTPReply(code: code, lines: lines) }
            state = .inReply(code: code, lines: lines, length: length + text.count)
            return nil
        case .failed(let error): throw error
        }
    }

    private func check(lines: Int, length: Int) throws(FTPError) {
        if lines > limits.replyLines { throw .tooManyLines(limit: limits.replyLines) }
        if length > limits.replyLength { throw .replyTooLong(limit: limits.replyLength) }
    }

    /// The code at the beginning of a line, and the text after it.
    private struct LineStart {
        let code: Int
        let isContinued: Bool
        let text: [UInt8]

        init?(_ line: [UInt8]) {
            guard line.count >= 3, let first = ASCII.digit(line[0]), let second = ASCII.digit(line[1]),
                let third = ASCII.digit(line[2]), (1...5).contains(first)
            else { return nil }
            code = Int(first) * 100 + Int(second) * 10 + Int(third)
            guard line.count > 3 else {
                (isContinued, text) = (false, [])
                return
            }
            guard line[3] == ASCII.space || line[3] == UInt8(ascii: "-") else { return nil }
            isContinued = line[3] != ASCII.space
            text = Array(line[4...])
        }
    }
}
