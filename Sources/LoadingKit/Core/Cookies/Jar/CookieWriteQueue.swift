/// Changes of a storage that are to be written. One batch is written at a time, in order; the changes that come
/// meanwhile are the next batch.
///
/// A batch that failed is not tried again. The next one, which a change or a flush begins, has all cookies of the
/// storage.
struct CookieWriteQueue: Sendable {
    typealias Waiter = @Sendable ((any Error)?) -> Void

    /// When more changes wait than this, the next batch has all cookies instead: a slow disk does not make the queue
    /// grow without a bound.
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

    /// Calls `waiter` when all that was added so far is written. Returns true, without a call, when that is the case
    /// already.
    mutating func awaitWritten(orCall waiter: @escaping Waiter) -> Bool {
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

    /// The batch was written, or the writing failed. Gives the callers that waited for it. After a failure these are
    /// all that wait, as the next batch may come much later.
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
