import DequeModule
import LoadingKitPrimitives

/// The look-ups of a session's proxy resolver, and the answers that are kept. It is a value: each input returns the
/// actions to take.
///
/// ```
///   nothing ──ask──▶ queued ──there is room──▶ asking ──answer──▶ known ──after a minute──▶ nothing
///                      │                         │
///                      └──── no load waits ──────┴──▶ nothing
/// ```
///
/// A look-up that runs when the answers are forgotten is no longer its target's: the loads that wait get its answer, and
/// later ones start another.
struct ProxyQuestions {
    /// The number of the waiting load.
    typealias Waiter = UInt64

    struct Question: Hashable {
        let number: UInt64
        let target: ProxyTarget
    }

    enum Lookup {
        case known([Proxy?])
        /// ``Action/tell(_:_:)`` delivers the answer.
        case waits([Action])
    }

    enum Action {
        case begin(Question)
        case cancel(Question)
        case tell([Waiter], Result<[Proxy?], any Error>)
    }

    private enum Entry {
        /// The look-up is queued or running.
        case open(Question)
        case known([Proxy?], until: MonotonicTime)
    }

    /// The loads that wait for an answer, in the order of their arrival. The cost of adding or removing one does not
    /// depend on their number.
    private struct Line {
        private var places: [Waiter: Int] = [:]
        /// Nil for a load that no longer waits.
        private var waiters: [Waiter?] = []

        var isEmpty: Bool { places.isEmpty }
        var inOrder: [Waiter] { waiters.compactMap { $0 } }

        mutating func add(_ waiter: Waiter) {
            guard places[waiter] == nil else { return }
            places[waiter] = waiters.count
            waiters.append(waiter)
        }

        mutating func remove(_ waiter: Waiter) {
            guard let place = places.removeValue(forKey: waiter) else { return }
            waiters[place] = nil
            // At least as many were removed since the last compaction.
            guard waiters.count > 2 * places.count + 16 else { return }
            waiters = inOrder
            for (place, waiter) in waiters.enumerated() { if let waiter { places[waiter] = place } }
        }
    }

    /// The largest number of look-ups at a time. A cancelled look-up counts until the resolver returns, so that a
    /// resolver that ignores cancellation does not get more and more of them.
    static let mostAtOnce = 16
    /// The lifetime of an answer, in seconds.
    static let lifetime = 60.0
    /// The number of answers beyond which expired answers, and if necessary all, are removed.
    static let mostKnown = 1000

    private var entries: [ProxyTarget: Entry] = [:]
    /// The loads that wait for the look-ups that are queued or running, by the look-ups' numbers.
    private var lines: [UInt64: Line] = [:]
    private var awaited: [Waiter: Question] = [:]
    private var queue: Deque<Question> = []
    private var running: [UInt64: Question] = [:]
    private var lastNumber: UInt64 = 0

    mutating func ask(_ target: ProxyTarget, for waiter: Waiter, now: MonotonicTime) -> Lookup {
        switch entries[target] {
        case .known(let proxies, let until) where now < until:
            return .known(proxies)
        case .open(let question):
            wait(waiter, for: question)
            return .waits([])
        case .known, nil:
            lastNumber += 1
            let question = Question(number: lastNumber, target: target)
            wait(waiter, for: question)
            entries[target] = .open(question)
            forgetWithdrawn()
            queue.append(question)
            return .waits(beginQueued())
        }
    }

    /// Removes the look-ups for which no load waits from the queue, so that there are never many more of them than of
    /// others.
    private mutating func forgetWithdrawn() {
        guard queue.count > 2 * entries.count + 16 else { return }
        queue.removeAll { lines[$0.number] == nil }
    }

    private mutating func wait(_ waiter: Waiter, for question: Question) {
        awaited[waiter] = question
        lines[question.number, default: Line()].add(waiter)
    }

    /// The load is over, or no longer needs the answer.
    mutating func withdraw(_ waiter: Waiter) -> [Action] {
        guard let question = awaited.removeValue(forKey: waiter) else { return [] }
        lines[question.number]?.remove(waiter)
        guard lines[question.number]?.isEmpty == true else { return [] }
        lines[question.number] = nil
        if case .open(question) = entries[question.target] { entries[question.target] = nil }
        // A queued look-up is skipped when its turn comes.
        return running[question.number] == nil ? [] : [.cancel(question)]
    }

    /// The resolver has returned. Errors are not kept: the next load starts a new look-up.
    mutating func didAnswer(
        _ question: Question, _ answer: Result<[Proxy?], any Error>, now: MonotonicTime
    ) -> [Action] {
        guard running.removeValue(forKey: question.number) != nil else { return [] }
        // It was cancelled.
        guard let waiters = lines.removeValue(forKey: question.number)?.inOrder else { return beginQueued() }
        if case .open(question) = entries[question.target] {
            entries[question.target] = nil
            if case .success(let proxies) = answer {
                forgetOld(now)
                entries[question.target] = .known(proxies, until: now.advanced(bySeconds: Self.lifetime))
            }
        }
        for waiter in waiters { awaited[waiter] = nil }
        return beginQueued() + [.tell(waiters, answer)]
    }

    /// The answers may have become invalid: the networks have changed, or the session is reset. The answers of running
    /// look-ups are delivered to the loads that wait for them now, and to no later ones.
    mutating func forget() {
        entries = entries.filter {
            if case .open(let question) = $0.value { running[question.number] == nil } else { false }
        }
    }

    /// The session is over.
    mutating func end() -> [Action] {
        let asked = running.values.filter { lines[$0.number] != nil }
        (entries, lines, awaited, queue) = ([:], [:], [:], [])
        return asked.sorted { $0.number < $1.number }.map(Action.cancel)
    }

    private mutating func beginQueued() -> [Action] {
        var actions: [Action] = []
        while running.count < Self.mostAtOnce, let question = queue.popFirst() {
            guard lines[question.number] != nil else { continue }
            running[question.number] = question
            actions.append(.begin(question))
        }
        return actions
    }

    private mutating func forgetOld(_ now: MonotonicTime) {
        guard entries.count >= Self.mostKnown else { return }
        entries = entries.filter { if case .known(_, let until) = $0.value { now < until } else { true } }
        if entries.count >= Self.mostKnown {
            entries = entries.filter { if case .known = $0.value { false } else { true } }
        }
    }

    /// For tests: the numbers of look-ups from which the resolver has not returned, and of waiting loads.
    var counts: (running: Int, waiting: Int) { (running.count, awaited.count) }
}
