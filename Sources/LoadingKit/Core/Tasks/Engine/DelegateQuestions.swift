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
    /// The challenges and the responses that pending questions are about. Who asks may withdraw them.
    private var subjects: [Int: AnyObject] = [:]
    private var count = 0

    init(_ loop: EventLoop) { self.loop = loop }

    /// Whether no answer is pending.
    var isEmpty: Bool { pending.isEmpty }

    /// Whether a decision about a response is pending.
    var hasResponses: Bool { subjects.values.contains { $0 is URLResponse } }

    /// Returns the function to call with the answer, from any thread.
    ///
    /// - Parameter subject: the challenge or the response, if the question is about one.
    func open<Answer>(
        about subject: AnyObject? = nil, _ take: @escaping (Answer) -> Void
    ) -> @Sendable (Answer) -> Void {
        count += 1
        let number = count
        pending[number] = Question(take)
        subjects[number] = subject
        return { [weak self, loop] answer in
            let answer = LoopTransfer(answer)
            loop.perform { [weak self] in
                let question = self?.close(number) as? Question<Answer>
                question?.take(answer.value)
            }
        }
    }

    private func close(_ number: Int) -> AnyObject? {
        subjects[number] = nil
        return pending.removeValue(forKey: number)
    }

    /// The question about this challenge or response needs no answer any longer. False where no answer is pending.
    func withdraw(_ subject: AnyObject) -> Bool {
        guard let number = subjects.first(where: { $0.value === subject })?.key else { return false }
        _ = close(number)
        return true
    }

    /// Later answers are dropped.
    func closeAll() { (pending, subjects) = ([:], [:]) }
}
