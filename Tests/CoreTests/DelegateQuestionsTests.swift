import Foundation
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// What a task asks its delegate: when an answer counts.
@Suite struct DelegateQuestionsTests {
    /// Runs on a loop, with questions and a record of the answers that counted.
    private static func ask(
        _ body: @escaping @Sendable (DelegateQuestions, Recorder<Int>) -> Void
    ) async -> [Int] {
        let loop = EventLoop(name: "questions")
        defer { loop.stop() }
        let answers = Recorder<Int>()
        await withCheckedContinuation { continuation in
            loop.execute {
                let questions = DelegateQuestions(loop)
                body(questions, answers)
                // Behind the answers.
                loop.execute {
                    #expect(questions.isEmpty)
                    continuation.resume()
                }
            }
        }
        return answers.snapshot
    }

    private static func challenge() -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(
                host: "example.org", port: 80, protocol: "http", realm: nil, authenticationMethod: nil),
            proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil)
    }

    private static func response() -> URLResponse { URLResponse(url: nil, expectedContentLength: -1) }

    @Test func theFirstAnswerCounts() async {
        let answers = await Self.ask { questions, answers in
            let (one, two) = (questions.open { answers.append($0) }, questions.open { answers.append($0) })
            two(2)
            one(1)
            one(11)
            two(22)
        }
        #expect(answers == [2, 1])
    }

    @Test func noAnswerCountsOnceAllAreClosed() async {
        let answers = await Self.ask { questions, answers in
            let (one, two) = (
                questions.open { answers.append($0) }, questions.open(about: Self.challenge()) { answers.append($0) }
            )
            questions.closeAll()
            #expect(questions.isEmpty)
            one(1)
            two(2)
        }
        #expect(answers == [])
    }

    @Test func aChallengeThatIsWithdrawnNeedsNoAnswer() async {
        let answers = await Self.ask { questions, answers in
            let (first, second) = (Self.challenge(), Self.challenge())
            let one = questions.open(about: first) { answers.append($0) }
            let two = questions.open(about: second) { answers.append($0) }
            #expect(questions.withdraw(first) && !questions.withdraw(first) && !questions.isEmpty)
            one(1)
            two(2)
        }
        #expect(answers == [2])
    }

    @Test func aResponseIsWithdrawnLikeAChallenge() async {
        let answers = await Self.ask { questions, answers in
            let (first, second) = (Self.response(), Self.response())
            let one = questions.open(about: first) { answers.append($0) }
            let two = questions.open(about: second) { answers.append($0) }
            #expect(questions.withdraw(first) && !questions.withdraw(first) && questions.hasResponses)
            #expect(questions.withdraw(second) && !questions.hasResponses)
            one(1)
            two(2)
        }
        #expect(answers == [])
    }
}
