import LoadingKitCore
import LoadingKitPrimitives

/// What a session asks its proxy resolver, and what it remembers of the answers, as a value: each input returns what is to be
/// done.
///
/// ```
///   nothing ──ask──▶ queued ──there is room──▶ asking ──answer──▶ known ──after a minute──▶ nothing
///                      │                         │
///                      └──── nobody waits ───────┴──▶ nothing
/// ```
struct ProxyQuestions {
    /// The number of the exchange that waits.
    typealias Waiter = UInt64

    struct Question: Hashable {
        let number: UInt64
        let origin: Origin
    }

    enum Lookup {
        case known([Proxy?])
        /// The answer comes by ``Action/tell(_:_:)``.
        case waits([Action])
    }

    enum Action {
        case begin(Question)
        case cancel(Question)
        case tell([Waiter], Result<[Proxy?], any Error>)
    }

    private enum Entry {
        case queued([Waiter])
        case asking(Question, [Waiter])
        case known([Proxy?], until: MonotonicTime)
    }

    /// Questions at a time. One that was cancelled counts until the resolver returns from it, so that a resolver that heeds
    /// no cancellation does not get more and more of them.
    static let mostAtOnce = 16
    /// How long an answer holds, in seconds.
    static let lifetime = 60.0
    /// Beyond so many answers those that are too old are forgotten, and then all.
    static let mostKnown = 1000

    private var entries: [Origin: Entry] = [:]
    private var origins: [Waiter: Origin] = [:]
    private var queue: [Origin] = []
    private var running: Set<UInt64> = []
    private var lastNumber: UInt64 = 0
    /// Questions with a lower number were asked before the networks changed.
    private var firstCurrent: UInt64 = 0

    mutating func ask(_ origin: Origin, for waiter: Waiter, now: MonotonicTime) -> Lookup {
        switch entries[origin] {
        case .known(let proxies, let until) where now < until:
            return .known(proxies)
        case .queued(let waiters):
            origins[waiter] = origin
            entries[origin] = .queued(waiters + [waiter])
            return .waits([])
        case .asking(let question, let waiters):
            origins[waiter] = origin
            entries[origin] = .asking(question, waiters + [waiter])
            return .waits([])
        case .known, nil:
            origins[waiter] = origin
            entries[origin] = .queued([waiter])
            queue.append(origin)
            return .waits(beginQueued())
        }
    }

    /// The exchange is over, or asks no more.
    mutating func withdraw(_ waiter: Waiter) -> [Action] {
        guard let origin = origins.removeValue(forKey: waiter) else { return [] }
        switch entries[origin] {
        case .queued(let waiters):
            let others = waiters.filter { $0 != waiter }
            entries[origin] = others.isEmpty ? nil : .queued(others)
            if others.isEmpty { queue.removeAll { $0 == origin } }
            return []
        case .asking(let question, let waiters):
            let others = waiters.filter { $0 != waiter }
            entries[origin] = others.isEmpty ? nil : .asking(question, others)
            return others.isEmpty ? [.cancel(question)] : []
        case .known, nil:
            return []
        }
    }

    /// The resolver has returned. Errors are not remembered: the next load asks again.
    mutating func didAnswer(
        _ question: Question, _ answer: Result<[Proxy?], any Error>, now: MonotonicTime
    ) -> [Action] {
        guard running.remove(question.number) != nil else { return [] }
        guard case .asking(question, let waiters) = entries[question.origin] else { return beginQueued() }
        if case .success(let proxies) = answer, question.number >= firstCurrent {
            forgetOld(now)
            entries[question.origin] = .known(proxies, until: now.advanced(bySeconds: Self.lifetime))
        } else {
            entries[question.origin] = nil
        }
        for waiter in waiters { origins[waiter] = nil }
        return beginQueued() + [.tell(waiters, answer)]
    }

    /// The answers may not hold any more: the networks have changed, or the session is reset. What is being asked is answered
    /// and not remembered.
    mutating func forget() {
        firstCurrent = lastNumber + 1
        entries = entries.filter { if case .known = $0.value { false } else { true } }
    }

    /// The session is over.
    mutating func end() -> [Action] {
        let asked = entries.values.compactMap { entry -> Question? in
            if case .asking(let question, _) = entry { question } else { nil }
        }
        entries = [:]
        origins = [:]
        queue = []
        return asked.sorted { $0.number < $1.number }.map(Action.cancel)
    }

    private mutating func beginQueued() -> [Action] {
        var actions: [Action] = []
        while running.count < Self.mostAtOnce, let origin = queue.first {
            queue.removeFirst()
            guard case .queued(let waiters) = entries[origin] else { continue }
            lastNumber += 1
            let question = Question(number: lastNumber, origin: origin)
            running.insert(question.number)
            entries[origin] = .asking(question, waiters)
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

    /// For tests: how many questions the resolver has not returned from, and how many loads wait.
    var counts: (running: Int, waiting: Int) { (running.count, origins.count) }
}
