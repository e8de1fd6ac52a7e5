/// Happy Eyeballs version 2 (RFC 8305): the order and the times in which the addresses of a name are tried.
///
/// Pure: it gets events and returns actions. The caller has the clocks and sockets.
package struct HappyEyeballs: Sendable {
    package typealias Family = IPAddress.Family

    package enum Input: Sendable, Hashable {
        /// A family's lookup has ended; without addresses if it failed.
        case answered(Family, [IPAddress])
        case resolutionDelayPassed
        case attemptDelayPassed
        case attemptFailed(IPAddress)
        case attemptSucceeded(IPAddress)
    }

    package enum Action: Sendable, Hashable {
        case startAttempt(IPAddress)
        /// Send ``Input/resolutionDelayPassed`` after this number of nanoseconds.
        case setResolutionTimer(UInt64)
        case cancelResolutionTimer
        /// Send ``Input/attemptDelayPassed`` after this number of nanoseconds, instead of at the time set before.
        case setAttemptTimer(UInt64)
        case cancelAttemptTimer
        /// This attempt has succeeded. The other attempts end.
        case finish(IPAddress)
        /// No address is left to try.
        case giveUp
    }

    /// RFC 8305 §3: the time for which IPv4 addresses wait for the IPv6 addresses, in nanoseconds.
    package static let resolutionDelay: UInt64 = 50_000_000
    /// RFC 8305 §5: the time between the starts of two attempts, in nanoseconds.
    package static let attemptDelay: UInt64 = 250_000_000

    private enum State {
        /// No family has returned an address.
        case resolving(unanswered: [Family])
        /// IPv4 addresses are known, and wait for the IPv6 addresses (§3).
        case waitingForV6([IPAddress])
        case attempting(Attempts)
        case finished
    }

    /// The remaining addresses and the running attempts.
    private struct Attempts {
        var unanswered: [Family]
        var v6: ArraySlice<IPAddress>
        var v4: ArraySlice<IPAddress>
        var next = Family.v6
        var running: [IPAddress] = []

        /// §4: the families alternate while both have addresses.
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
            unanswered.removeAll { $0 == family }
            switch family {
            case .v6: v6 += addresses
            case .v4: v4 += addresses
            }
        }
    }

    private var state = State.resolving(unanswered: [.v4, .v6])

    package init() {}

    /// Processes an event, and returns the actions in order.
    package mutating func receive(_ input: Input) -> [Action] {
        switch state {
        case .resolving(let unanswered): receiveWhileResolving(unanswered, input)
        case .waitingForV6(let v4): receiveWhileWaitingForV6(v4, input)
        case .attempting(let attempts): receiveWhileAttempting(attempts, input)
        case .finished: []
        }
    }

    private mutating func receiveWhileResolving(_ unanswered: [Family], _ input: Input) -> [Action] {
        switch input {
        case .answered(let family, let addresses):
            let rest = unanswered.filter { $0 != family }
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
            // A running attempt has a timer that will start the next one.
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
            // §5: after a failure the next attempt does not wait for the timer.
            return startNext(attempts)
        case .attemptSucceeded(let address):
            guard attempts.running.contains(address) else { return [] }
            state = .finished
            return [.cancelAttemptTimer, .finish(address)]
        case .resolutionDelayPassed: return []
        }
    }

    /// Starts the next attempt, if there is an address for it.
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
