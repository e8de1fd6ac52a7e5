/// One difference between a request and the expected one.
public struct RequestMismatch: Sendable, Hashable, CustomStringConvertible {
    /// The differing part: `method`, `URL`, `query item page`, `field Accept`, `body`, `body at $.name`.
    public let subject: String
    /// The expected value.
    public let expected: String
    /// The request's value; nil where it has none.
    public let actual: String?

    /// Makes a difference.
    public init(_ subject: String, expected: String, actual: String?) {
        self.subject = subject
        self.expected = expected
        self.actual = actual
    }

    /// Three lines, in the style of a diff: the subject, `-` the expected value, `+` the actual value.
    public var description: String {
        "\(subject)\n    - \(Self.excerpt(expected))\n    + \(actual.map(Self.excerpt) ?? "(absent)")"
    }

    /// The beginning of a long text, on one line.
    static func excerpt(_ text: String) -> String {
        let limit = 400
        let line = text.prefix(limit).map { $0.isNewline ? "⏎" : String($0) }.joined()
        return line.count < limit ? line : "\(line)… (\(text.utf8.count) bytes)"
    }
}
