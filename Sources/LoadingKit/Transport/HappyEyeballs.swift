import LoadingKitPrimitives

/// Happy Eyeballs, version 2 (RFC 8305): which address to try when. Pure: inputs in, actions out.
///
///     answers ──▶ queue (families alternating) ──▶ attempt ──250 ms or failure──▶ next attempt …
///                                                     └── the first that succeeds wins; the others are cancelled
package struct HappyEyeballs {
    package enum Family: Sendable { case v6, v4 }

    package enum Input: Sendable {
        /// One family's lookup has ended: its addresses in the resolver's order, or none.
        case answer(Family, [SocketAddress])
        case failed(SocketAddress, code: Int32)
        case connected(SocketAddress)
        /// The timer that an action set has fired.
        case timer
    }

    package enum Action: Sendable, Equatable {
        case start(SocketAddress)
        /// Replaces a timer set before.
        case setTimer(nanoseconds: UInt64)
        case cancelTimer
        case won(SocketAddress)
        /// Every address failed, or there was none.
        case gaveUp
    }

    /// How long a v4 answer waits for the v6 answer (RFC 8305 §3).
    package static let resolutionDelay: UInt64 = 50_000_000
    /// How long one attempt has before the next begins beside it (RFC 8305 §5).
    package static let attemptDelay: UInt64 = 250_000_000

    private enum Phase {
        /// No attempt yet; `delayed` once a v4 answer waits for v6.
        case resolving(delayed: Bool)
        case attempting
        case over
    }

    private var phase = Phase.resolving(delayed: false)
    private var awaited: Set<Family> = [.v6, .v4]
    private var waiting: [Family: [SocketAddress]] = [:]
    private var running: [SocketAddress] = []
    private var lastStarted: Family?
    package private(set) var failures: [(SocketAddress, code: Int32)] = []

    package init() {}

    package mutating func handle(_ input: Input) -> [Action] {
        switch (phase, input) {
        case (.over, _): return []
        case (_, .answer(let family, let addresses)):
            guard awaited.remove(family) != nil else { return [] }
            waiting[family] = addresses
            return answered(family)
        case (.resolving(delayed: true), .timer): return startNext()
        case (.resolving(delayed: false), .timer): return []
        case (.attempting, .timer): return startNext()
        case (_, .failed(let address, let code)):
            running.removeAll { $0 == address }
            failures.append((address, code))
            return startNext()
        case (_, .connected(let address)):
            phase = .over
            return [.cancelTimer, .won(address)]
        }
    }

    private mutating func answered(_ family: Family) -> [Action] {
        if case .attempting = phase { return running.isEmpty ? startNext() : [] }
        // v6 first, or nothing to wait for any more; v4 alone waits a little for v6.
        if family == .v6 || awaited.isEmpty {
            return (waiting[.v6] ?? []).isEmpty && !awaited.isEmpty ? [] : startNext()
        }
        if (waiting[.v4] ?? []).isEmpty { return [] }
        phase = .resolving(delayed: true)
        return [.setTimer(nanoseconds: Self.resolutionDelay)]
    }

    /// The families in turn, v6 first (RFC 8305 §4).
    private mutating func startNext() -> [Action] {
        let order: [Family] = lastStarted == .v6 ? [.v4, .v6] : [.v6, .v4]
        for family in order {
            guard let address = waiting[family]?.first else { continue }
            waiting[family]?.removeFirst()
            lastStarted = family
            running.append(address)
            phase = .attempting
            return [.start(address), .setTimer(nanoseconds: Self.attemptDelay)]
        }
        guard running.isEmpty && awaited.isEmpty else { return [] }
        phase = .over
        return [.cancelTimer, .gaveUp]
    }
}
