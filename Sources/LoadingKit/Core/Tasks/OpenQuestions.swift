import LoadingKitTransport

/// What a task has asked its delegate, and not been told yet. Used on the task's loop alone.
///
/// An answer counts once, the first time: a second one would have a request sent again. A program may keep what it was
/// given to answer with for as long as it likes, after it has answered or the task is over: that holds nothing of the task.
final class OpenQuestions: @unchecked Sendable {  // confined to `loop`
    private final class Question<Answer> {
        let take: (Answer) -> Void
        init(_ take: @escaping (Answer) -> Void) { self.take = take }
    }

    private let loop: EventLoop
    private var open: [Int: AnyObject] = [:]
    private var count = 0

    init(_ loop: EventLoop) { self.loop = loop }

    /// Gives what is to be called with the answer, from any thread.
    func ask<Answer>(_ take: @escaping (Answer) -> Void) -> @Sendable (Answer) -> Void {
        count += 1
        let number = count
        open[number] = Question(take)
        return { [weak self, loop] answer in
            let answer = LoopTransfer(answer)
            loop.perform { [weak self] in
                let question = self?.open.removeValue(forKey: number) as? Question<Answer>
                question?.take(answer.value)
            }
        }
    }

    /// Nobody wants to know any more.
    func closeAll() { open = [:] }
}
