/// Conditions on requests, and the responses to requests that meet them.
public struct Stub: Sendable {
    /// The stub's name in texts. By default the conditions of its matchers.
    public let name: String
    /// The conditions, which must all be met. None: every request matches.
    public let matchers: [RequestMatcher]
    /// The stub's responses.
    public let answers: StubAnswers

    /// Makes a stub.
    public init(_ matchers: [RequestMatcher], name: String? = nil, answers: StubAnswers) {
        self.matchers = matchers
        self.answers = answers
        let text = matchers.map(\.description).filter { !$0.isEmpty }.joined(separator: ", ")
        self.name = name ?? (text.isEmpty ? "any request" : text)
    }

    func match(_ request: ReceivedRequest) -> RequestMatcher.Result {
        var whole = RequestMatcher.Result()
        for check in matchers.flatMap(\.checks) {
            let result = check.run(request)
            whole.mismatches += result.mismatches
            whole.parameters.merge(result.parameters) { $1 }
        }
        return whole
    }
}

/// A stub that was used fewer times than its responses require.
public struct UnusedStub: Sendable, Hashable, CustomStringConvertible {
    /// The stub's name.
    public let name: String
    /// The number of requests that it answered.
    public let used: Int
    /// The number of requests for which it has responses; 1 for any number.
    public let required: Int

    /// The name, and the number of uses.
    public var description: String {
        used == 0 ? "\(name): never used" : "\(name): used \(used) of \(required) times"
    }
}
