import LoadingKitTransport

/// What a task has asked its delegate, challenges among it, and not been answered yet. Used on the task's loop alone.
///
/// An answer counts once, the first time: a second one would have a request sent again. A program may keep what it was
/// given to answer with for as long as it likes, after it has answered or the task is over: that holds nothing of the task.
final class DelegateQuestions: @unchecked Sendable {  // confined to `loop`
    private final class Question<Answer> {
        let take: (Answer) -> Void
        init(_ take: @escaping (Answer) -> Void) { self.take = take }
    }

    private let loop: EventLoop
    private var pending: [Int: AnyObject] = [:]
    /// The challenges among them. An authentication scheme may withdraw its challenge.
    private var challenges: [Int: URLAuthenticationChallenge] = [:]
    private var count = 0

    init(_ loop: EventLoop) { self.loop = loop }

    /// Whether a challenge is not answered yet.
    var hasChallenges: Bool { !challenges.isEmpty }

    /// Gives what is to be called with the answer, from any thread.
    ///
    /// - Parameter challenge: what the question is about, if it is a challenge.
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

    /// The challenge needs no answer any more. False where it has none to come.
    func withdraw(_ challenge: URLAuthenticationChallenge) -> Bool {
        guard let number = challenges.first(where: { $0.value === challenge })?.key else { return false }
        _ = close(number)
        return true
    }

    /// Answers that come later are dropped.
    func closeAll() { (pending, challenges) = ([:], [:]) }
}
