/// One way in which a request differs from what was expected of it.
public struct RequestMismatch: Sendable, Hashable, CustomStringConvertible {
    /// What differs: `method`, `URL`, `query item page`, `field Accept`, `body`, `body at $.name`.
    public let subject: String
    /// What was expected.
    public let expected: String
    /// What the request has; nil where it has none.
    public let actual: String?

    /// A difference.
    public init(_ subject: String, expected: String, actual: String?) {
        self.subject = subject
        self.expected = expected
        self.actual = actual
    }

    /// Three lines, as a diff has them: the subject, `-` what was expected, `+` what there is.
    public var description: String {
        "\(subject)\n    - \(Self.excerpt(expected))\n    + \(actual.map(Self.excerpt) ?? "(absent)")"
    }

    /// Of a long text the beginning, in one line.
    static func excerpt(_ text: String) -> String {
        let limit = 400
        let line = text.prefix(limit).map { $0.isNewline ? "⏎" : String($0) }.joined()
        return line.count < limit ? line : "\(line)… (\(text.utf8.count) bytes)"
    }
}
