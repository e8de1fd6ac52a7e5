import CSimulatedSystem
import Foundation
import LoadingKitPrimitives
import Synchronization

/// A connection of a hostile server.
final class Carrier: Sendable {
    /// Whether the server has done nothing because of which the client may give up the connection or its requests.
    let isFine = Atomic<Bool>(true)
    /// When it ended, in milliseconds; the greatest number before.
    private let end = Atomic<UInt64>(.max)

    var isOpen: Bool { end.load(ordering: .relaxed) == .max }

    func didEnd() { end.store(sim_time() / 1_000_000, ordering: .relaxed) }

    fileprivate func mayHarm(after time: UInt64) -> Bool {
        !isFine.load(ordering: .relaxed) && end.load(ordering: .relaxed) >= time
    }
}

/// What happened in a world, and what of it must not have.
final class Ledger: Sendable {
    private struct Living: Sendable {
        let name: String
        weak var object: (any AnyObject & Sendable)?
    }

    private struct State {
        var violations: [String] = []
        /// The requests that servers have acted upon, which must not be sent twice.
        var actedUpon: [UInt64: [Act]] = [:]
        /// The connections of hostile servers, and those on which they have got a request.
        var carriers: [Carrier] = []
        var carriersOfRequests: [UInt64: [Carrier]] = [:]
        /// The requests that hostile servers have refused, and have not got again since.
        var refused: Set<UInt64> = []
        var outcomes: [String: Int] = [:]
        var living: [Living] = []
        var context = ""
    }

    /// A server has acted upon a request: when, and on which connection.
    private struct Act {
        let time: UInt64
        let isOpen: @Sendable () -> Bool
    }

    private let state = Guarded(State())

    var violations: [String] { state.withLock { $0.violations } }

    var summary: String {
        state.withLock {
            $0.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
    }

    /// What is being done, for the texts of violations.
    var context: String {
        get { state.withLock { $0.context } }
        set {
            sim_trace(newValue)
            state.withLock { $0.context = newValue }
        }
    }

    func violation(_ text: String) {
        sim_trace("VIOLATION \(text)")
        let time = sim_time() / 1000
        state.withLock { $0.violations.append("\($0.context) at \(time) µs: \(text)") }
    }

    func note(_ outcome: String) {
        sim_trace(outcome)
        state.withLock { $0.outcomes[outcome, default: 0] += 1 }
    }

    /// Notes an outcome. Returns whether it is the first of its kind.
    func isFirst(_ outcome: String) -> Bool {
        note(outcome)
        return state.withLock { $0.outcomes[outcome] == 1 }
    }

    /// A server has acted upon a request that may not be sent twice, but for the times that it is repeated by rule: the one
    /// time that a connection which was idle is lost (`retriesUnansweredRequests`), and attempts of background transfers. A
    /// connection that has merely fallen silent is not lost: its server may have acted.
    ///
    /// - Parameters:
    ///   - repeats: how many times it may come again; more than once where it may for any reason.
    ///   - isOpen: whether the server still has the connection on which the request came.
    func actsUpon(_ request: UInt64, repeats: Int, isOpen: @escaping @Sendable () -> Bool) {
        let act = Act(time: sim_time() / 1_000_000, isOpen: isOpen)
        let acts = state.withLock { state in
            state.actedUpon[request, default: []].append(act)
            return state.actedUpon[request] ?? []
        }
        if acts.count > 1 + repeats { violation("the request \(request) was sent \(acts.count) times") }
        guard repeats <= 1 else { return }
        for earlier in acts.dropLast() where act.time > earlier.time + Self.timeToEnd && earlier.isOpen() {
            violation("the request \(request) was sent again, and its connection was not lost")
        }
    }

    /// After this many milliseconds both ends of a connection know its end, where there is any.
    private static let timeToEnd: UInt64 = 5000

    func begins(_ carrier: Carrier) { state.withLock { $0.carriers.append(carrier) } }

    func carries(_ request: UInt64, _ carrier: Carrier) {
        state.withLock { state in
            state.carriersOfRequests[request, default: []].append(carrier)
            state.refused.remove(request)
        }
    }

    func refuses(_ request: UInt64) { state.withLock { _ = $0.refused.insert(request) } }

    /// Whether a hostile server has got the request, and did no harm to the connections on which it came, nor to one on which it
    /// may be on its way again.
    func isUnharmed(_ request: UInt64, since start: UInt64) -> Bool {
        state.withLock { state in
            let carriers = state.carriersOfRequests[request] ?? []
            let others = state.refused.contains(request) ? state.carriers : []
            return !carriers.isEmpty && !(carriers + others).contains { $0.mayHarm(after: start) }
        }
    }

    /// The servers are gone, and all requests.
    func forgetRequests() {
        state.withLock { state in
            (state.actedUpon, state.carriers, state.carriersOfRequests, state.refused) = ([:], [], [:], [])
        }
    }

    /// The object must be gone in the end.
    func mustEnd(_ object: any AnyObject & Sendable, _ name: String) {
        state.withLock { state in
            if state.living.count > 1000 { state.living.removeAll { $0.object == nil } }
            state.living.append(Living(name: name, object: object))
        }
    }

    var living: [String] { state.withLock { $0.living.filter { $0.object != nil }.map(\.name) } }
}
