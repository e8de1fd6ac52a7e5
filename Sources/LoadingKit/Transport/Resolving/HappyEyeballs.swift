/// Happy Eyeballs version 2 (RFC 8305): in which order, and when, the addresses of a name are tried.
///
/// Pure: it takes what happened and gives what is to be done; clocks and sockets are the caller's.
package struct HappyEyeballs: Sendable {
    package typealias Family = IPAddress.Family

    package enum Input: Sendable, Hashable {
        /// A family's lookup is over; without addresses when it failed.
        case answered(Family, [IPAddress])
        case resolutionDelayPassed
        case attemptDelayPassed
        case attemptFailed(IPAddress)
        case attemptSucceeded(IPAddress)
    }

    package enum Action: Sendable, Hashable {
        case startAttempt(IPAddress)
        /// Give ``Input/resolutionDelayPassed`` after so many nanoseconds.
        case setResolutionTimer(UInt64)
        case cancelResolutionTimer
        /// Give ``Input/attemptDelayPassed`` after so many nanoseconds, instead of when it was set before.
        case setAttemptTimer(UInt64)
        case cancelAttemptTimer
        /// This attempt is the one; the others end.
        case finish(IPAddress)
        /// There is no address left to try.
        case giveUp
    }

    /// RFC 8305 §3: how long IPv4 addresses wait for the IPv6 addresses.
    package static let resolutionDelay: UInt64 = 50_000_000
    /// RFC 8305 §5: how long after an attempt the next begins.
    package static let attemptDelay: UInt64 = 250_000_000

    private enum State {
        /// No family has answered with an address.
        case resolving(unanswered: Set<Family>)
        /// IPv4 has answered, and gives IPv6 a head start (§3).
        case waitingForV6([IPAddress])
        case attempting(Attempts)
        case finished
    }

    /// The addresses that are left and the attempts that run.
    private struct Attempts {
        var unanswered: Set<Family>
        var v6: ArraySlice<IPAddress>
        var v4: ArraySlice<IPAddress>
        var next = Family.v6
        var running: [IPAddress] = []

        /// §4: the families take turns, as long as both have addresses.
        mutating func pop() -> IPAddress? {
            switch (next, v6.isEmpty, v4.isEmpty) {
            case (_, true, true): return nil
            case (.v6, false, _), (.v4, false, true):
                next = .v4
                return v6.popFirst()
            case (.v4, _, false), (.v6, true, false):
                next = .v6
                return v4.popFirst()
            }
        }

        mutating func add(_ addresses: [IPAddress], _ family: Family) {
            unanswered.remove(family)
            switch family {
            case .v6: v6 += addresses
            case .v4: v4 += addresses
            }
        }
    }

    private var state = State.resolving(unanswered: [.v4, .v6])

    package init() {}

    /// Takes what happened, gives what to do, in order.
    package mutating func receive(_ input: Input) -> [Action] {
        switch state {
        case .resolving(let unanswered): receiveWhileResolving(unanswered, input)
        case .waitingForV6(let v4): receiveWhileWaitingForV6(v4, input)
        case .attempting(let attempts): receiveWhileAttempting(attempts, input)
        case .finished: []
        }
    }

    private mutating func receiveWhileResolving(_ unanswered: Set<Family>, _ input: Input) -> [Action] {
        switch input {
        case .answered(let family, let addresses):
            let rest = unanswered.subtracting([family])
            if addresses.isEmpty {
                state = rest.isEmpty ? .finished : .resolving(unanswered: rest)
                return rest.isEmpty ? [.giveUp] : []
            }
            if family == .v4, rest.contains(.v6) {
                state = .waitingForV6(addresses)
                return [.setResolutionTimer(Self.resolutionDelay)]
            }
            var attempts = Attempts(unanswered: rest, v6: [], v4: [])
            attempts.add(addresses, family)
            return startNext(attempts)
        case .resolutionDelayPassed, .attemptDelayPassed, .attemptFailed, .attemptSucceeded:
            return []
        }
    }

    private mutating func receiveWhileWaitingForV6(_ v4: [IPAddress], _ input: Input) -> [Action] {
        switch input {
        case .answered(.v6, let addresses):
            return [.cancelResolutionTimer]
                + startNext(Attempts(unanswered: [], v6: addresses[...], v4: v4[...]))
        case .resolutionDelayPassed:
            return startNext(Attempts(unanswered: [.v6], v6: [], v4: v4[...]))
        case .answered(.v4, _), .attemptDelayPassed, .attemptFailed, .attemptSucceeded:
            return []
        }
    }

    private mutating func receiveWhileAttempting(_ old: Attempts, _ input: Input) -> [Action] {
        var attempts = old
        switch input {
        case .answered(let family, let addresses):
            guard attempts.unanswered.contains(family) else { return [] }
            attempts.add(addresses, family)
            // An attempt that runs has a timer that will start the next.
            guard attempts.running.isEmpty else {
                let timer = old.v4.isEmpty && old.v6.isEmpty && !addresses.isEmpty
                state = .attempting(attempts)
                return timer ? [.setAttemptTimer(Self.attemptDelay)] : []
            }
            return startNext(attempts)
        case .attemptDelayPassed: return startNext(attempts)
        case .attemptFailed(let address):
            guard let index = attempts.running.firstIndex(of: address) else { return [] }
            attempts.running.remove(at: index)
            // §5: a failure does not wait for the timer.
            return startNext(attempts)
        case .attemptSucceeded(let address):
            guard attempts.running.contains(address) else { return [] }
            state = .finished
            return [.cancelAttemptTimer, .finish(address)]
        case .resolutionDelayPassed: return []
        }
    }

    /// Starts the next attempt, when there is an address for it.
    private mutating func startNext(_ old: Attempts) -> [Action] {
        var attempts = old
        guard let address = attempts.pop() else {
            let isOver = attempts.running.isEmpty && attempts.unanswered.isEmpty
            state = isOver ? .finished : .attempting(attempts)
            return isOver ? [.cancelAttemptTimer, .giveUp] : []
        }
        attempts.running.append(address)
        let isLast = attempts.v4.isEmpty && attempts.v6.isEmpty
        state = .attempting(attempts)
        return [.startAttempt(address), isLast ? .cancelAttemptTimer : .setAttemptTimer(Self.attemptDelay)]
    }
}
