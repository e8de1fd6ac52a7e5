/// Conditions on requests, and what those that meet them get.
public struct Stub: Sendable {
    /// What it is called in texts. By default what its matchers ask for.
    public let name: String
    /// All must hold. None: every request.
    public let matchers: [RequestMatcher]
    /// What it answers.
    public let answers: StubAnswers

    /// A stub.
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

/// A stub that was not used as often as its answers say.
public struct UnusedStub: Sendable, Hashable, CustomStringConvertible {
    /// The stub's name.
    public let name: String
    /// How many requests it answered.
    public let used: Int
    /// How many it has answers for; 1 for any number.
    public let required: Int

    /// The name, and how often it was used.
    public var description: String {
        used == 0 ? "\(name): never used" : "\(name): used \(used) of \(required) times"
    }
}
