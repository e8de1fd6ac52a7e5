import CSimulatedSystem
import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// A task's delegate, which checks the order of its calls, and does what delegates do: it blocks, cancels, suspends, loads more.
final class TaskRecorder: NSObject, URLSessionDataDelegate {
    private enum Stage: String {
        case beginning, responded, measured, ended
    }

    private struct State {
        var stage = Stage.beginning
        var body: [UInt8] = []
        var response: URLResponse?
        var isInCall = false
        var error: (any Error)?
        var hasCancelled = false
        var isSuspended = false
    }

    private let resource: Resource
    private let ledger: Ledger
    private let state = Guarded(State())
    private let ended = Signal()
    /// Whether it may cancel the task by itself.
    let mayCancel: Bool
    private let blocks: Bool
    /// Whether it suspends the task, which nobody else then does, nor cancels it.
    let suspends: Bool

    init(_ resource: Resource, _ ledger: Ledger, disturbs: Bool, isCancelled: Bool) {
        (self.resource, self.ledger) = (resource, ledger)
        mayCancel = disturbs && sim_random(8) == 0
        blocks = disturbs && sim_random(5) == 0
        suspends = disturbs && sim_random(5) == 0 && !mayCancel && !isCancelled
    }

    func outcome() async -> Load.Outcome {
        await ended.wait()
        return state.withLock { state in
            if let error = state.error { return .failure(error) }
            guard let response = state.response else { return .failure(Load.Lost()) }
            return .success((state.body, response))
        }
    }

    /// A call of the session's: one at a time, in an order that Apple documents.
    private func call(
        _ name: String, from allowed: [Stage], to stage: Stage, _ task: URLSessionTask,
        _ body: (inout State) -> Void = { _ in }
    ) {
        let problem = state.withLock { state -> String? in
            defer {
                state.stage = stage
                body(&state)
            }
            if state.isInCall { return "\(name) during another call" }
            state.isInCall = true
            if state.isSuspended { return "\(name) while the task is suspended" }
            if state.hasCancelled, stage == .responded { return "\(name) after the task was cancelled" }
            return allowed.contains(state.stage) ? nil : "\(name) after \(state.stage.rawValue)"
        }
        if let problem { ledger.violation("\(resource): \(problem)") }
        if blocks { usleep(useconds_t(sim_random(50_000))) }
        // With its metrics a task is over.
        if suspends, stage == .responded, sim_random(3) == 0 { suspend(task) }
        if mayCancel, sim_random(3) == 0 {
            task.cancel()
            state.withLock { $0.hasCancelled = true }
        }
        state.withLock { $0.isInCall = false }
    }

    /// Suspends the task for some time; nothing is told meanwhile.
    private func suspend(_ task: URLSessionTask) {
        task.suspend()
        state.withLock { $0.isSuspended = true }
        Task {
            try? await Task.sleep(for: .milliseconds(Int(sim_random(100))))
            state.withLock { $0.isSuspended = false }
            task.resume()
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        call("a response", from: [.beginning], to: .responded, dataTask) { $0.response = response }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        call("data", from: [.responded], to: .responded, dataTask) { $0.body += data }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        call("metrics", from: [.beginning, .responded], to: .measured, task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        call("the end", from: [.measured], to: .ended, task) { $0.error = error }
        ended.fire()
    }
}
