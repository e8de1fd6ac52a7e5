import LoadingKitPrimitives

/// What an event loop hands over to other threads: calls, and tasks to resume. That is done when a turn of the loop ends, or
/// a moment later, in one burst: to wake a thread costs more than most of what it is woken for. Confined to its loop.
final class Outbox {
    /// Kept in a struct: a bare function in an array is wrapped once more, which costs an allocation.
    private struct Call {
        let run: () -> Void
    }

    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no other
    // object: the check costs more than what it guards.
    @exclusivity(unchecked) private var calls: [Call] = []
    /// Tasks that continue elsewhere.
    @exclusivity(unchecked) private var resumptions: [ResumptionPool.Resumption] = []
    /// Whether more than one task was resumed last time. Several give the loop more to do with one wake-up than each of them
    /// would by taking its turn.
    @exclusivity(unchecked) private(set) var isCrowded = false
    /// How many results tasks elsewhere still wait for.
    @exclusivity(unchecked) var awaitedResults = 0
    @exclusivity(unchecked) private var pacing = ResultPacing()
    /// Whether the loop's thread pauses before it looks for further events.
    @exclusivity(unchecked) private(set) var isPausing = false

    var isEmpty: Bool { calls.isEmpty && resumptions.isEmpty }

    func append(_ call: @escaping () -> Void) { calls.append(Call(run: call)) }

    /// Resumes a task that runs elsewhere.
    func append(resumption: @escaping @Sendable () -> Void) {
        resumptions.append(ResumptionPool.Resumption(run: resumption))
    }

    /// The loop's thread has done all that a turn brought, and is about to look for further events.
    ///
    /// - Parameter canPause: whether the loop's time is the system's.
    func endTurn(now: MonotonicTime, canPause: Bool) {
        isPausing = canPause && pacing.pauses(before: resumptions.count, awaited: awaitedResults, now: now)
        if isPausing { makeCalls() } else { flush() }
    }

    /// Resumes the tasks, and makes the calls.
    func flush() {
        resumeTasks()
        makeCalls()
    }

    private func makeCalls() {
        guard !calls.isEmpty else { return }
        var batch: [Call] = []
        swap(&batch, &calls)
        for call in batch { call.run() }
        guard calls.isEmpty else { return }
        // Keeps the memory for the next turn.
        batch.removeAll(keepingCapacity: true)
        swap(&batch, &calls)
    }

    private func resumeTasks() {
        guard !resumptions.isEmpty else { return }
        isCrowded = resumptions.count > 1
        // Alone, it needs no other thread.
        guard isCrowded else { return resumptions.removeLast().run() }
        var batch: [ResumptionPool.Resumption] = []
        swap(&batch, &resumptions)
        ResumptionPool.shared.run(batch)
        // Keeps the memory for the next turn. What is released here may call the loop.
        batch.removeAll(keepingCapacity: true)
        if resumptions.isEmpty { swap(&batch, &resumptions) }
    }
}
