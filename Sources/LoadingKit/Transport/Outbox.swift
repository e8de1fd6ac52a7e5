import Dispatch
import LoadingKitPrimitives

/// What an event loop has to tell other threads. It is told when a turn of the loop ends, in one burst, or a little later:
/// to wake a thread costs more than most of what it is woken for. Confined to its loop.
final class Outbox {
    /// Kept in a struct: a bare function in an array is wrapped once more, which costs an allocation.
    private struct Call {
        let run: () -> Void
    }

    private struct Resumption: Sendable {
        let run: @Sendable () -> Void
    }

    /// So many things are told at a time: with more, what was received for the first has left the processor's cache.
    private let room: Int
    private var calls: [Call] = []
    /// Tasks that run elsewhere.
    private var resumptions: [Resumption] = []
    /// Whether more than one task was resumed last time. Several give the loop more to do with one wake-up than each of them
    /// would by taking its turn.
    private(set) var isCrowded = false
    /// Whether some of it is a task's result.
    private var hasResult = false
    /// How many results tasks still wait for.
    var awaitedResults = 0
    private var pacing = ResultPacing()
    /// Whether the loop's thread pauses before it looks for further events.
    private(set) var isPausing = false
    private var postponements = maximumPostponements

    /// So often the loop looks for further events before it tells of those it had.
    private static let maximumPostponements = 24

    init(room: Int) { self.room = room }

    var isEmpty: Bool { calls.isEmpty && resumptions.isEmpty }

    func append(_ call: @escaping () -> Void) { calls.append(Call(run: call)) }

    /// Those tasks that do not run on the loop are resumed by a thread of the pool that they run on: at each wake-up from
    /// here the system might have that thread run at once, in this one's place, and wait again.
    func append(resumptionOnLoop isOnLoop: Bool, _ resume: @escaping @Sendable () -> Void) {
        hasResult = true
        if isOnLoop { append(resume) } else { resumptions.append(Resumption(run: resume)) }
    }

    /// The loop's thread has done all that a turn brought, and is about to look for further events.
    ///
    /// - Parameter mayPause: whether time is the system's.
    func endTurn(hadEvents: Bool, now: MonotonicTime, mayPause: Bool) {
        if hadEvents, postponements > 0, expectsMore {
            postponements -= 1
            isPausing = false
            return
        }
        postponements = Self.maximumPostponements
        isPausing = mayPause && pacing.pauses(before: resumptions.count, awaited: awaitedResults, now: now)
        if isPausing { call() } else { tell() }
    }

    /// Whether there may soon be more to tell of, and room for it.
    private var expectsMore: Bool {
        let isLast = awaitedResults == 0 && hasResult
        return !isLast && resumptions.count + calls.count < room
    }

    /// Tells all there is.
    func tell() {
        hasResult = false
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
        guard let last = resumptions.popLast() else { return }
        isCrowded = !resumptions.isEmpty
        // Keeps the memory for the next.
        guard isCrowded else { return last.run() }
        let batch = resumptions
        resumptions = []
        resumptions.reserveCapacity(batch.count)
        DispatchQueue.global().async {
            for resumption in batch { resumption.run() }
            last.run()
        }
    }
}
