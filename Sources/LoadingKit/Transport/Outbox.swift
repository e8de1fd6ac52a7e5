import LoadingKitPrimitives

/// What an event loop has to tell other threads. It is told when a turn of the loop ends, in one burst, or a little later:
/// to wake a thread costs more than most of what it is woken for. Confined to its loop.
final class Outbox {
    /// Kept in a struct: a bare function in an array is wrapped once more, which costs an allocation.
    private struct Call {
        let run: () -> Void
    }

    private var calls: [Call] = []
    /// Tasks that go on elsewhere.
    private var resumptions: [ResumptionPool.Resumption] = []
    /// Whether more than one task was resumed last time. Several give the loop more to do with one wake-up than each of them
    /// would by taking its turn.
    private(set) var isCrowded = false
    /// How many results tasks still wait for.
    var awaitedResults = 0
    private var pacing = ResultPacing()
    /// Whether the loop's thread pauses before it looks for further events.
    private(set) var isPausing = false

    var isEmpty: Bool { calls.isEmpty && resumptions.isEmpty }

    func append(_ call: @escaping () -> Void) { calls.append(Call(run: call)) }

    /// Resumes a task that runs elsewhere.
    func append(resumption: @escaping @Sendable () -> Void) {
        resumptions.append(ResumptionPool.Resumption(run: resumption))
    }

    /// The loop's thread has done all that a turn brought, and is about to look for further events.
    ///
    /// - Parameter mayPause: whether time is the system's.
    func endTurn(now: MonotonicTime, mayPause: Bool) {
        isPausing = mayPause && pacing.pauses(before: resumptions.count, awaited: awaitedResults, now: now)
        if isPausing { call() } else { tell() }
    }

    /// Tells all there is.
    func tell() {
        resume()
        call()
    }

    private func call() {
        guard !calls.isEmpty else { return }
        var batch: [Call] = []
        swap(&batch, &calls)
        for call in batch { call.run() }
        guard calls.isEmpty else { return }
        // Keeps the memory for the next turn.
        batch.removeAll(keepingCapacity: true)
        swap(&batch, &calls)
    }

    private func resume() {
        guard !resumptions.isEmpty else { return }
        isCrowded = resumptions.count > 1
        // Alone, it needs no other thread.
        guard isCrowded else { return resumptions.removeLast().run() }
        ResumptionPool.shared.run(resumptions)
        // Keeps the memory for the next.
        resumptions.removeAll(keepingCapacity: true)
    }
}
