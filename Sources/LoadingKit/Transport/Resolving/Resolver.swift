import Glibc
import LoadingKitPrimitives
import Synchronization

/// Finds the addresses of names.
///
/// Each family has a separate lookup, so that the first answer can be used (RFC 8305 §3). Answers are kept for a short
/// time. A request for a name whose lookup is running shares this lookup, unless the networks have changed since then: each
/// name has one thread for each family, and a few more after changes.
///
/// Name servers that do not answer block only the threads that wait for them. At the limit of threads, lookups wait in
/// order, while a request waits for them.
package final class Resolver: Sendable {
    package typealias Family = IPAddress.Family
    package typealias Answer = Result<[IPAddress], ResolverFailure>
    /// Finds a name's addresses of a family. It may block, and runs on the pool.
    package typealias Lookup = @Sendable (String, Family) -> Answer

    /// A request that can be cancelled.
    package final class Request {
        private let resolver: Resolver
        fileprivate let number: UInt64
        fileprivate private(set) var isCancelled = false
        /// The lookups for which the request waits.
        fileprivate var keys: [Key] = []

        fileprivate init(_ resolver: Resolver, _ number: UInt64) {
            self.resolver = resolver
            self.number = number
        }

        /// Stops the delivery of answers. On the loop of the request.
        package func cancel() {
            isCancelled = true
            for key in keys { resolver.withdraw(self, key) }
            keys = []
        }
    }

    fileprivate struct Question: Hashable {
        var name: String
        var family: Family
        /// Whether an answer counts only if it was validated by DNSSEC.
        var mustBeValid: Bool
    }

    /// The key of a lookup. Each generation has its own lookups.
    fileprivate struct Key: Hashable {
        let question: Question
        /// The value of ``Names/generation`` when the lookup was requested.
        let generation: Int
    }

    private struct Pending {
        let work: BlockingPool.Work
        /// The callbacks by the requests' numbers.
        var waiting: [UInt64: @Sendable (Answer) -> Void]
    }

    private struct Known {
        let answer: Answer
        let until: MonotonicTime
        let generation: Int

        /// Whether the answer can be used. A failure can be used only while the networks have not changed.
        func counts(at now: MonotonicTime, in current: Int) -> Bool {
            if case .failure = answer, generation != current { false } else { now < until }
        }
    }

    private struct Names {
        var pending: [Key: Pending] = [:]
        var known: [Question: Known] = [:]
        /// How often the networks have changed, or all answers were forgotten. A request shares no lookup of an earlier
        /// generation, whose name server may never answer.
        var generation = 0
        /// The generation in which all answers were last forgotten. Addresses found by earlier lookups are not kept.
        var forgottenIn = 0
        var reports = NetworkReports()
        /// The times at which the networks last changed, and all answers were last forgotten.
        var lastChange: MonotonicTime?
        var lastForgotten: MonotonicTime?
        /// The time at which a change that came soon after others is counted; nil if all changes are counted.
        var changeDue: MonotonicTime?

        mutating func countDueChange(_ now: MonotonicTime) {
            guard let due = changeDue, due <= now else { return }
            changeDue = nil
            reports.note(now)
            generation &+= 1
        }

        mutating func forget(_ now: MonotonicTime) {
            known = [:]
            generation &+= 1
            forgottenIn = generation
            lastForgotten = now
        }

        /// Whether what is known now was found after the last change. The sessions report a change one after the other.
        func hasForgotten(_ now: MonotonicTime) -> Bool {
            guard let lastForgotten, now.seconds(since: lastForgotten) < NetworkReports.settlingTime else {
                return false
            }
            // A change shortly before, or since then, is yet to be reported.
            return lastChange.map { lastForgotten.seconds(since: $0) > NetworkReports.settlingTime / 2 } ?? true
        }
    }

    /// The time for which an answer is used, in nanoseconds: the system does not return the record's time to live.
    package static let lifetime: UInt64 = 60_000_000_000
    /// The time for which a failure is kept as an answer, in nanoseconds.
    package static let failureLifetime: UInt64 = 3_000_000_000
    package static let maximumNames = 256
    /// The number of a name's addresses of one family that are used.
    package static let maximumAddresses = 64

    /// The resolver's own threads, so that a name server without an answer does not delay file operations. A lookup by
    /// the system takes some milliseconds if it is answered, and up to about half a minute otherwise: where the system has
    /// no further thread, a lookup fails instead of waiting for the others.
    package static let limits = BlockingPool.Limits(threads: 128, maximumWaiting: 2048, endsByItself: false)

    /// The process's resolver, with the system's lookups.
    package static let shared = Resolver()

    private let pool: BlockingPool
    private let time: TimeSource
    private let lookup: Lookup
    private let validatedLookup: Lookup
    private let names = Guarded(Names())
    private let lastNumber = Atomic<UInt64>(0)

    package init(
        limits: BlockingPool.Limits = Resolver.limits, time: TimeSource = .system,
        lookup: @escaping Lookup = Resolver.systemLookup,
        validatedLookup: @escaping Lookup = Resolver.systemValidatedLookup
    ) {
        pool = BlockingPool(name: "LoadingKit-name", limits)
        self.time = time
        self.lookup = lookup
        self.validatedLookup = validatedLookup
    }

    package var threadCount: Int { pool.threadCount }

    package var waitingCount: Int { pool.waitingCount }

    /// Calls `answer` once for each family, on `loop`, which must be the caller's: at once for literals, `localhost`
    /// and known names, otherwise later.
    ///
    /// - Parameter mustBeValid: whether addresses count only if the name server has validated them by DNSSEC.
    package func resolve(
        _ host: String, mustBeValid: Bool = false, on loop: EventLoop, answer: @escaping (Family, Answer) -> Void
    ) -> Request {
        loop.preconditionCurrent()
        let request = Request(self, lastNumber.wrappingAdd(1, ordering: .relaxed).newValue)
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
        let box = LoopTransfer(Waiter(request: request, answer: answer))
        for family in Family.allCases where !request.isCancelled {
            lookUp(Question(name: host.lowercased(), family: family, mustBeValid: mustBeValid), box, loop)
        }
        return request
    }

    private struct Waiter {
        let request: Request
        let answer: (Family, Answer) -> Void

        func deliver(_ key: Key, _ result: Answer) {
            request.keys.removeAll { $0 == key }
            if !request.isCancelled { answer(key.question.family, result) }
        }
    }

    private enum Standing {
        case known(Answer)
        /// Another request has started the lookup.
        case pending(Key)
        case asked(Key, BlockingPool.Work)
    }

    private func lookUp(_ question: Question, _ waiter: LoopTransfer<Waiter>, _ loop: EventLoop) {
        let request = waiter.value.request
        let standing = note(question, request.number) { key, result in
            loop.execute { waiter.value.deliver(key, result) }
        }
        switch standing {
        case .known(let answer): if !request.isCancelled { waiter.value.answer(question.family, answer) }
        case .pending(let key): request.keys.append(key)
        case .asked(let key, let work):
            request.keys.append(key)
            pool.run(work)
        }
    }

    private func note(
        _ question: Question, _ number: UInt64, _ deliver: @escaping @Sendable (Key, Answer) -> Void
    ) -> Standing {
        let now = time.now
        return names.withLock { names in
            names.countDueChange(now)
            if let known = names.known[question], known.counts(at: now, in: names.generation) {
                return .known(known.answer)
            }
            let key = Key(question: question, generation: names.generation)
            if names.pending[key] != nil {
                names.pending[key]?.waiting[number] = { deliver(key, $0) }
                return .pending(key)
            }
            let work = BlockingPool.Work(
                { self.finish(key, self.look(up: key.question)) }, orElse: { self.refuse(key, $0) })
            names.pending[key] = Pending(work: work, waiting: [number: { deliver(key, $0) }])
            return .asked(key, work)
        }
    }

    /// Forgets all answers: a name may have other addresses in another network. Answers to lookups that are under way
    /// are delivered to the requests that wait for them, and not kept; later requests begin others. Of several calls
    /// for one change of the networks, the first counts.
    package func forget() {
        let now = time.now
        names.withLock { names in if !names.hasForgotten(now) { names.forget(now) } }
    }

    /// Forgets the failures, because the name servers may be reached now. Addresses stay known. Only a few of many
    /// changes are counted, which limits the number of lookups of one name at the same time.
    package func networksDidChange() {
        let now = time.now
        names.withLock { names in
            names.lastChange = now
            if names.reports.take(now) {
                names.changeDue = nil
                names.generation &+= 1
            } else if names.changeDue == nil {
                names.changeDue = names.reports.next(after: now)
            }
        }
    }

    /// An answer may have thousands of addresses, some of them more than once.
    private func look(up question: Question) -> Answer {
        let answer = (question.mustBeValid ? validatedLookup : lookup)(question.name, question.family)
        var known = Set<IPAddress>()
        return answer.map { Array($0.filter { known.insert($0).inserted }.prefix(Self.maximumAddresses)) }
    }

    /// A request no longer waits for a lookup. A lookup for which no request waits does not begin. A running lookup
    /// cannot be stopped: it still counts, and its answer is kept.
    private func withdraw(_ request: Request, _ key: Key) {
        names.withLock { [number = request.number] names in
            guard var pending = names.pending[key] else { return }
            pending.waiting[number] = nil
            // Inside the lock, so that no request begins to wait for a lookup that is being cancelled.
            let isOver = pending.waiting.isEmpty && pool.cancel(pending.work)
            names.pending[key] = isOver ? nil : pending
        }
    }

    private func finish(_ key: Key, _ answer: Answer) {
        let lifetime: UInt64
        switch answer {
        case .success: lifetime = Self.lifetime
        // There may be descriptors again at any time.
        case .failure(.noDescriptors): return answerWaiters(key, answer, nil)
        case .failure: lifetime = Self.failureLifetime
        }
        let until = time.now.advanced(byNanoseconds: lifetime)
        answerWaiters(key, answer, Known(answer: answer, until: until, generation: key.generation))
    }

    /// The lookup does not take place. The failure is not kept, as the cause may be temporary.
    private func refuse(_ key: Key, _ refusal: BlockingPool.Refusal) {
        answerWaiters(key, .failure(.refused(refusal)), nil)
    }

    private func answerWaiters(_ key: Key, _ answer: Answer, _ known: Known?) {
        let pending = names.withLock { names in
            let pending = names.pending.removeValue(forKey: key)
            if let known, key.generation >= max(names.forgottenIn, names.known[key.question]?.generation ?? 0) {
                names.known[key.question] = known
                Self.trim(&names.known)
            }
            return pending
        }
        guard let pending else { return }
        for waiter in pending.waiting.values { waiter(answer) }
    }

    /// Limits the number of names. The answers that expire first are removed first.
    private static func trim(_ known: inout [Question: Known]) {
        let limit = maximumNames * Family.allCases.count
        guard known.count > limit else { return }
        // Removes a quarter more than necessary, so that not every new name causes this.
        let excess = known.count - limit + limit / 4
        for (question, _) in known.sorted(by: { $0.value.until < $1.value.until }).prefix(excess) {
            known[question] = nil
        }
    }

    /// The addresses of literals, and of the names for this machine (RFC 6761 §6.3).
    private static func addressesWithoutLookup(of host: String) -> [IPAddress]? {
        if let literal = IPAddress(host) { return [literal] }
        let name = host.utf8.last == UInt8(ascii: ".") ? host.dropLast().lowercased() : host.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") ? [.loopback6, .loopback4] : nil
    }
}

/// The reason why a name could not be resolved.
package enum ResolverFailure: Error, Sendable, Hashable {
    /// The name does not exist, or has no address of the family; with the resolver's text.
    case notFound(String)
    /// The resolver failed; with its text.
    case failed(String)
    /// The addresses were not validated by DNSSEC; with the reason.
    case notValidated(String)
    /// The process, or the system, has no descriptor left for the lookup; with the number of the system's error.
    case noDescriptors(Int32)
    /// The lookup cannot begin: the process has no thread for it, or does too many already.
    case refused(BlockingPool.Refusal)
}

extension Resolver {
    /// Uses the system's resolver (`getaddrinfo`), which sorts the addresses by RFC 6724. Blocks.
    package static let systemLookup: Lookup = { name, family in
        var hints = addrinfo()
        hints.ai_family = family.number
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(name, nil, &hints, &list)
        guard result == 0 else { return .failure(cause(of: failure(of: result))) }
        defer { freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var next = list
        while let info = next {
            next = info.pointee.ai_next
            if let address = info.pointee.ai_addr.flatMap({ IPAddress($0) }) { addresses.append(address) }
        }
        return addresses.isEmpty ? .failure(.notFound("no address")) : .success(addresses)
    }

    /// The cause of a lookup's failure: the system may report a lack of descriptors as a name that is not found, or as
    /// a name server that does not answer.
    static func cause(of failure: ResolverFailure) -> ResolverFailure {
        let descriptor = SystemCalls.datagramSocket(AF_UNIX)
        if descriptor >= 0 {
            SystemCalls.close(Int32(descriptor))
            return failure
        }
        let lack = SystemCallFailure(.socket, descriptor)
        return lack.isLackOfDescriptors ? .noDescriptors(lack.code) : failure
    }

    private static func failure(of code: Int32) -> ResolverFailure {
        // Glibc's EAI_NODATA and EAI_ADDRFAMILY: the name exists without such an address.
        let absent: Set<Int32> = [EAI_NONAME, -5, -9]
        let text = code == EAI_SYSTEM ? SystemCalls.text(ofError: errno) : String(cString: gai_strerror(code))
        return absent.contains(code) ? .notFound(text) : .failed(text)
    }
}
