/// Which response a stub gives when: each for a number of requests, one after the other.
public struct StubAnswers: Sendable {
    /// A response, and how many requests get it; nil for any number.
    struct Step: Sendable {
        var response: StubResponse
        var count: Int?
    }

    private(set) var steps: [Step]

    /// The same for every request.
    public static func always(_ response: StubResponse) -> StubAnswers {
        StubAnswers(steps: [Step(response: response, count: nil)])
    }

    /// Each once, one after the other. The stub then matches no more.
    public static func inOrder(_ responses: StubResponse...) -> StubAnswers { inOrder(responses) }

    /// Each once, one after the other. The stub then matches no more.
    public static func inOrder(_ responses: [StubResponse]) -> StubAnswers {
        StubAnswers(steps: responses.map { Step(response: $0, count: 1) })
    }

    /// The same for so many requests; fewer than 1 count as 1. The stub then matches no more.
    public static func times(_ count: Int, _ response: StubResponse) -> StubAnswers {
        StubAnswers(steps: [Step(response: response, count: max(count, 1))])
    }

    /// These, and others when they are used up.
    public func then(_ others: StubAnswers) -> StubAnswers { StubAnswers(steps: steps + others.steps) }

    /// How many requests must come until all was used: an answer for any number counts as one.
    var requiredCount: Int { steps.reduce(0) { $0 + ($1.count ?? 1) } }

    /// The response to the request with this number, from 0; nil where all are used up.
    func response(at number: Int) -> StubResponse? {
        var rest = number
        for step in steps {
            guard let count = step.count, rest >= count else { return step.response }
            rest -= count
        }
        return nil
    }
}
