import LoadingKitTransport

/// A task's pending calls to its delegate that require an answer, including challenges. Used only on the task's loop.
///
/// An answer counts once, the first time: a second answer would send a request again. A program may keep the completion
/// handler for any time after its answer or the task's end: the handler holds no part of the task.
final class DelegateQuestions: @unchecked Sendable {  // confined to `loop`
    private final class Question<Answer> {
        let take: (Answer) -> Void
        init(_ take: @escaping (Answer) -> Void) { self.take = take }
    }

    private let loop: EventLoop
    private var pending: [Int: AnyObject] = [:]
    /// The pending challenges. An authentication scheme may withdraw its challenge.
    private var challenges: [Int: URLAuthenticationChallenge] = [:]
    private var count = 0

    init(_ loop: EventLoop) { self.loop = loop }

    /// Whether a challenge is pending.
    var hasChallenges: Bool { !challenges.isEmpty }

    /// Returns the function to call with the answer, from any thread.
    ///
    /// - Parameter challenge: the challenge, if the question is about one.
    func open<Answer>(
        about challenge: URLAuthenticationChallenge? = nil, _ take: @escaping (Answer) -> Void
    ) -> @Sendable (Answer) -> Void {
        count += 1
        let number = count
        pending[number] = Question(take)
        if let challenge { challenges[number] = challenge }
        return { [weak self, loop] answer in
            let answer = LoopTransfer(answer)
            loop.perform { [weak self] in
                let question = self?.close(number) as? Question<Answer>
                question?.take(answer.value)
            }
        }
    }

    private func close(_ number: Int) -> AnyObject? {
        challenges[number] = nil
        return pending.removeValue(forKey: number)
    }

    /// The challenge needs no answer any longer. False where no answer to it is pending.
    func withdraw(_ challenge: URLAuthenticationChallenge) -> Bool {
        guard let number = challenges.first(where: { $0.value === challenge })?.key else { return false }
        _ = close(number)
        return true
    }

    /// Later answers are dropped.
    func closeAll() { (pending, challenges) = ([:], [:]) }
}
