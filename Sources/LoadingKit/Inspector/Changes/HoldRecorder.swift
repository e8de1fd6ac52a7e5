import Foundation
import LoadingKitCore
import LoadingKitHAR
import LoadingKitPrimitives
import Synchronization

/// Holds the loads that match the page's rules, while a page is open. Used from any thread.
final class HoldRecorder: LoadRecorder, LoadHolder {
    private struct State {
        var rules: [HoldRule] = []
        var isWatched = false
        var held: [Int: HeldLoad] = [:]
        var lastNumber = 0
    }

    let redactor: Redactor
    private let inbox: TrafficInbox
    private let state = Guarded(State())
    /// Whether a rule holds loads at present. Without one nothing else is done for a load.
    private let isOn = Atomic<Bool>(false)

    init(_ redactor: Redactor, _ inbox: TrafficInbox) { (self.redactor, self.inbox) = (redactor, inbox) }

    var rules: [HoldRule] { state.withLock { $0.rules } }

    func set(_ rules: [HoldRule]) { change { $0.rules = rules } }

    func set(isWatched: Bool) { change { $0.isWatched = isWatched } }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            isOn.store(state.isWatched && state.rules.contains(where: \.isOn), ordering: .relaxed)
        }
    }

    func holds(_ stage: HoldRule.Stage, _ request: URLRequest) -> Bool {
        guard isOn.load(ordering: .relaxed), let url = request.url?.absoluteString else { return false }
        let method = request.httpMethod ?? "GET"
        return state.withLock { state in
            state.isWatched && state.rules.contains { $0.holds(stage, method: method, url: url) }
        }
    }

    func makeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Where the last page was closed meanwhile, the load goes on.
    func didHold(_ load: HeldLoad) {
        let isHeld = state.withLock { state in
            if state.isWatched { state.held[load.number] = load }
            return state.isWatched
        }
        if isHeld { inbox.add(.held(load)) } else { load.decide(.proceed(nil)) }
    }

    func didRelease(_ load: HeldLoad) {
        if state.withLock({ $0.held.removeValue(forKey: load.number) }) != nil { inbox.add(.released(load)) }
    }

    /// The load with the number, if it is held.
    func held(_ number: Int) -> HeldLoad? { state.withLock { $0.held[number] } }

    /// The loads that are held, by their numbers.
    var heldLoads: [Int: HeldLoad] { state.withLock { $0.held } }

    /// Lets all loads go on unchanged.
    func releaseAll() {
        for load in heldLoads.values { load.decide(.proceed(nil)) }
    }

    // MARK: LoadRecorder

    func load(
        _ request: URLRequest, _ resources: LoadResources, by make: @escaping (URLRequest) throws -> any LoopHandler
    ) throws -> any LoopHandler {
        guard isOn.load(ordering: .relaxed) else { return try make(request) }
        return HoldingLoad(request, resources, self, make)
    }

    func record(
        _ metrics: URLSessionTaskMetrics, _ error: (any Error)?, ofTask task: Int, from firstURL: URL?,
        in session: SessionIdentity
    ) {}

    func flush(_ done: @escaping @Sendable () -> Void) { done() }
}
