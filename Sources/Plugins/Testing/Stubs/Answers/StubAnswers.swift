/// The sequence of a stub's responses: each for a number of requests.
public struct StubAnswers: Sendable {
    /// A response, and the number of requests that get it; nil for any number.
    struct Step: Sendable {
        var response: StubResponse
        var count: Int?
    }

    private(set) var steps: [Step]

    /// The same response for every request.
    public static func always(_ response: StubResponse) -> StubAnswers {
        StubAnswers(steps: [Step(response: response, count: nil)])
    }

    /// Each response once, in order. The stub then no longer matches.
    public static func inOrder(_ responses: StubResponse...) -> StubAnswers { inOrder(responses) }

    /// Each response once, in order. The stub then no longer matches.
    public static func inOrder(_ responses: [StubResponse]) -> StubAnswers {
        StubAnswers(steps: responses.map { Step(response: $0, count: 1) })
    }

    /// The same response for `count` requests; fewer than 1 count as 1. The stub then no longer matches.
    public static func times(_ count: Int, _ response: StubResponse) -> StubAnswers {
        StubAnswers(steps: [Step(response: response, count: max(count, 1))])
    }

    /// These responses, and others when they are used up.
    public func then(_ others: StubAnswers) -> StubAnswers { StubAnswers(steps: steps + others.steps) }

    /// The number of requests after which all responses were used: a response for any number counts as one.
    var requiredCount: Int {
        steps.reduce(0) { total, step in
            let (sum, overflows) = total.addingReportingOverflow(step.count ?? 1)
            return overflows ? .max : sum
        }
    }

    /// The response to the request with this number, from 0; nil where all responses are used up.
    func response(at number: Int) -> StubResponse? {
        var rest = number
        for step in steps {
            guard let count = step.count, rest >= count else { return step.response }
            rest -= count
        }
        return nil
    }
}
