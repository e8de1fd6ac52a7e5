/// Changes on their way to where they are kept: one batch at a time, in order; what changes meanwhile is the next.
///
/// A batch that failed is not tried again: the next one, which a change or a flush begins, has everything.
struct CookieWriteQueue: Sendable {
    typealias Waiter = @Sendable ((any Error)?) -> Void

    /// More than this is written as everything there is, so that a slow disk does not make the queue grow.
    private static let mostEdits = 6000

    private enum State {
        case idle
        case writing([Waiter])
    }

    private var state = State.idle
    private var edits: [CookieEdit] = []
    private var needsEverything = false
    private var waiters: [Waiter] = []

    mutating func add(_ changes: [CookieChange]) {
        guard !needsEverything else { return }
        edits += changes.compactMap { CookieEdit($0) }
        if edits.count > Self.mostEdits { startOver() }
    }

    private mutating func startOver() {
        edits = []
        needsEverything = true
    }

    /// Has `waiter` called when all that was added so far is written. True when that is the case already.
    mutating func isWritten(orCall waiter: @escaping Waiter) -> Bool {
        guard edits.isEmpty, !needsEverything else {
            waiters.append(waiter)
            return false
        }
        switch state {
        case .idle: return true
        case .writing(let current):
            state = .writing(current + [waiter])
            return false
        }
    }

    /// The next batch, which is being written from now on; nil when one is already, or there is nothing to write.
    mutating func next(everything: () -> [CookieRecord]) -> CookieBatch? {
        guard case .idle = state, needsEverything || !edits.isEmpty else { return nil }
        let batch: CookieBatch =
            needsEverything ? .everything(everything().filter { !$0.isSessionOnly }) : .edits(edits)
        state = .writing(waiters)
        (edits, waiters, needsEverything) = ([], [], false)
        return batch
    }

    /// The batch was written, or was not. Gives who waited for it; after a failure all who wait, as nothing else will
    /// be written soon.
    mutating func finish(_ error: (any Error)?) -> [Waiter] {
        guard case .writing(var done) = state else { return [] }
        state = .idle
        if error != nil {
            startOver()
            done += waiters
            waiters = []
        }
        return done
    }
}
