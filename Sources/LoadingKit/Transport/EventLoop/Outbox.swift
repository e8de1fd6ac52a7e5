import LoadingKitPrimitives

/// The calls and task resumptions that an event loop passes to other threads. They run at the end of a turn of the
/// loop, or a moment later, in one burst: waking a thread costs more than most of the work for which it is woken.
/// Confined to its loop.
final class Outbox {
    /// The function is in a struct: a bare function in an array is wrapped again, which costs an allocation.
    private struct Call {
        let run: () -> Void
    }

    // Exclusive access is not checked for a property that is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    @exclusivity(unchecked) private var calls: [Call] = []
    /// Calls for the end of the next turn.
    @exclusivity(unchecked) private var postponed: [Call] = []
    /// Tasks that continue on other threads.
    @exclusivity(unchecked) private var resumptions: [ResumptionPool.Resumption] = []
    /// Whether more than one task was resumed last time. Several tasks that wake the loop once give it more work at a
    /// time than if each of them took its turn.
    @exclusivity(unchecked) private(set) var isCrowded = false
    /// The number of results that tasks on other threads still await.
    @exclusivity(unchecked) var awaitedResults = 0
    @exclusivity(unchecked) private var pacing = ResultPacing()
    /// Whether the loop's thread pauses before it checks for further events.
    @exclusivity(unchecked) private(set) var isPausing = false

    /// The most elements at a time whose memory is kept for the next turn.
    private static let mostKept = 4096

    /// The number of elements for which there is memory.
    var capacity: Int { calls.capacity + postponed.capacity + resumptions.capacity }

    var isEmpty: Bool { calls.isEmpty && postponed.isEmpty && resumptions.isEmpty }

    func append(_ call: @escaping () -> Void) { calls.append(Call(run: call)) }

    /// Makes `call` at the end of the next turn, after a pause.
    func append(afterPause call: @escaping () -> Void) { postponed.append(Call(run: call)) }

    func append(resumption: @escaping @Sendable () -> Void) {
        resumptions.append(ResumptionPool.Resumption(run: resumption))
    }

    /// The loop's thread has done all work of a turn, and is about to check for further events.
    ///
    /// - Parameter canPause: whether the loop uses the system's time.
    func endTurn(now: MonotonicTime, canPause: Bool) {
        takePostponed()
        isPausing = canPause && pacing.pauses(before: resumptions.count, awaited: awaitedResults, now: now)
        if isPausing { makeCalls() } else { flush() }
        if canPause, !postponed.isEmpty { isPausing = true }
    }

    private func takePostponed() {
        guard !postponed.isEmpty else { return }
        calls.append(contentsOf: postponed)
        postponed.removeAll(keepingCapacity: postponed.count <= Self.mostKept)
    }

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
        batch.removeAll(keepingCapacity: batch.count <= Self.mostKept)
        swap(&batch, &calls)
    }

    private func resumeTasks() {
        guard !resumptions.isEmpty else { return }
        isCrowded = resumptions.count > 1
        // A single resumption needs no other thread.
        guard isCrowded else { return resumptions.removeLast().run() }
        var batch: [ResumptionPool.Resumption] = []
        swap(&batch, &resumptions)
        ResumptionPool.shared.run(batch)
        // Keeps the memory for the next turn. Releasing the resumptions may call the loop.
        batch.removeAll(keepingCapacity: batch.count <= Self.mostKept)
        if resumptions.isEmpty { swap(&batch, &resumptions) }
    }
}
