import Glibc
import LoadingKitPrimitives

/// Finds the addresses of names.
///
/// Each family is a lookup of its own, so that the first to answer can be used (RFC 8305 §3). Answers are kept for a
/// short time; whoever asks for a name that is being looked up shares that lookup.
package final class Resolver: Sendable {
    package typealias Family = IPAddress.Family
    package typealias Answer = Result<[IPAddress], ResolverFailure>
    /// Finds a name's addresses of a family. May block; runs on the pool.
    package typealias Lookup = @Sendable (String, Family) -> Answer

    /// A question that may be taken back.
    package final class Request {
        fileprivate var isCancelled = false
        /// No answers any more. On the loop of the request.
        package func cancel() { isCancelled = true }
    }

    private struct Key: Hashable {
        var name: String
        var family: Family
    }

    private enum Entry {
        case pending([@Sendable (Answer) -> Void])
        case answered(Answer, until: MonotonicTime)
    }

    /// How long an answer is used. The system's interface does not tell the record's time to live.
    package static let lifetime: UInt64 = 60_000_000_000
    /// How long a failure is believed.
    package static let failureLifetime: UInt64 = 3_000_000_000
    /// More names than this are not kept.
    package static let maximumNames = 256

    /// The process's own, with the system's lookup.
    package static let shared = Resolver()

    /// Threads of its own, so that a name server that hangs does not keep files waiting.
    private static let namePool = BlockingPool(maximumThreads: 8)

    private let pool: BlockingPool
    private let time: TimeSource
    private let lookup: Lookup
    private let entries = Guarded<[Key: Entry]>([:])

    package init(
        pool: BlockingPool? = nil, time: TimeSource = .system, lookup: @escaping Lookup = Resolver.systemLookup
    ) {
        self.pool = pool ?? Self.namePool
        self.time = time
        self.lookup = lookup
    }

    /// Calls `answer` once for each family, on `loop`, which is the caller's: at once for literals, `localhost` and what
    /// is known, else later.
    package func resolve(
        _ host: String, on loop: EventLoop, answer: @escaping (Family, Answer) -> Void
    ) -> Request {
        loop.preconditionCurrent()
        let request = Request()
        if let known = Self.addressesWithoutLookup(of: host) {
            for family in Family.allCases where !request.isCancelled {
                let addresses = known.filter { $0.family == family }
                answer(family, addresses.isEmpty ? .failure(.notFound("no such address")) : .success(addresses))
            }
            return request
        }
        guard !host.isEmpty, !host.utf8.contains(0), host.utf8.count <= 255 else {
            for family in Family.allCases { answer(family, .failure(.notFound("not a name"))) }
            return request
        }
        let box = LoopConfined(Waiter(request: request, answer: answer))
        for family in Family.allCases {
            ask(Key(name: host.lowercased(), family: family), box, loop)
        }
        return request
    }

    private struct Waiter {
        let request: Request
        let answer: (Family, Answer) -> Void

        func deliver(_ family: Family, _ result: Answer) {
            if !request.isCancelled { answer(family, result) }
        }
    }

    private func ask(_ key: Key, _ waiter: LoopConfined<Waiter>, _ loop: EventLoop) {
        let now = time.now
        let deliver: @Sendable (Answer) -> Void = { result in
            loop.execute { waiter.value.deliver(key.family, result) }
        }
        let (known, isFirst) = entries.withLock { entries -> (Answer?, Bool) in
            switch entries[key] {
            case .answered(let answer, let until) where now < until: return (answer, false)
            case .pending(var waiters):
                waiters.append(deliver)
                entries[key] = .pending(waiters)
                return (nil, false)
            case .answered, nil:
                entries[key] = .pending([deliver])
                return (nil, true)
            }
        }
        if let known { waiter.value.deliver(key.family, known) }
        if isFirst { pool.run { self.finish(key, self.lookup(key.name, key.family)) } }
    }

    private func finish(_ key: Key, _ answer: Answer) {
        let lifetime: UInt64
        switch answer {
        case .success: lifetime = Self.lifetime
        case .failure: lifetime = Self.failureLifetime
        }
        let now = time.now
        let waiters = entries.withLock { entries -> [@Sendable (Answer) -> Void] in
            defer {
                entries[key] = .answered(answer, until: now.advanced(byNanoseconds: lifetime))
                Self.trim(&entries, now)
            }
            guard case .pending(let waiters) = entries[key] else { return [] }
            return waiters
        }
        for waiter in waiters { waiter(answer) }
    }

    /// Keeps the number of names bounded: what is over goes first, then what is over soonest.
    private static func trim(_ entries: inout [Key: Entry], _ now: MonotonicTime) {
        let limit = maximumNames * Family.allCases.count
        guard entries.count > limit else { return }
        let answered = entries.compactMap { key, entry -> (Key, MonotonicTime)? in
            guard case .answered(_, let until) = entry else { return nil }
            return (key, until)
        }
        // A quarter more than needed, so that this is not done for each new name.
        let excess = entries.count - limit + limit / 4
        for (key, _) in answered.sorted(by: { $0.1 < $1.1 }).prefix(excess) { entries[key] = nil }
    }

    /// Literals, and the names that mean this machine (RFC 6761 §6.3).
    private static func addressesWithoutLookup(of host: String) -> [IPAddress]? {
        if let literal = IPAddress(host) { return [literal] }
        let name = host.utf8.last == UInt8(ascii: ".") ? host.dropLast().lowercased() : host.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") ? [.loopback6, .loopback4] : nil
    }
}
