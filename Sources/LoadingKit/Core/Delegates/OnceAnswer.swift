import LoadingKitPrimitives

/// Passes on one answer, the first. If it is released without an answer, it gives its own.
final class OnceAnswer<Answer: Sendable>: Sendable {
    private let take: Guarded<(@Sendable (Answer) -> Void)?>
    private let otherwise: Answer

    init(otherwise: Answer, _ take: @escaping @Sendable (Answer) -> Void) {
        self.take = Guarded(take)
        self.otherwise = otherwise
    }

    deinit { give(otherwise) }

    func give(_ answer: Answer) { take.withLock { $0.take() }?(answer) }
}
