import Testing

@testable import LoadingKitCore

@Suite struct TaskLifecycleTests {
    private enum Step { case resume, suspend, cancel, complete }

    private struct Case: CustomTestStringConvertible {
        let steps: [Step]
        let actions: [String]
        let state: URLSessionTask.State
        var testDescription: String { "\(steps)" }
    }

    private static let cases: [Case] = [
        Case(steps: [], actions: [], state: .suspended),
        Case(steps: [.resume], actions: ["start"], state: .running),
        Case(steps: [.resume, .resume], actions: ["start", "none"], state: .running),
        Case(steps: [.suspend, .resume], actions: ["none", "none"], state: .suspended),
        Case(steps: [.suspend, .resume, .resume], actions: ["none", "none", "start"], state: .running),
        Case(steps: [.resume, .suspend], actions: ["start", "change"], state: .suspended),
        Case(steps: [.resume, .suspend, .resume], actions: ["start", "change", "change"], state: .running),
        Case(
            steps: [.resume, .suspend, .suspend, .resume], actions: ["start", "change", "none", "none"],
            state: .suspended),
        Case(steps: [.cancel], actions: ["cancel(hasStarted: false)"], state: .canceling),
        Case(steps: [.resume, .cancel], actions: ["start", "cancel(hasStarted: true)"], state: .canceling),
        Case(
            steps: [.resume, .cancel, .cancel], actions: ["start", "cancel(hasStarted: true)", "none"],
            state: .canceling
        ),
        Case(
            steps: [.resume, .cancel, .resume, .suspend],
            actions: ["start", "cancel(hasStarted: true)", "none", "none"], state: .canceling),
        Case(
            steps: [.resume, .suspend, .cancel], actions: ["start", "change", "cancel(hasStarted: true)"],
            state: .canceling),
        Case(
            steps: [.resume, .complete, .resume, .suspend, .cancel], actions: ["start", "none", "none", "none"],
            state: .completed),
    ]

    @Test(arguments: cases) private func actions(_ test: Case) {
        var lifecycle = TaskLifecycle()
        var actions: [String] = []
        for step in test.steps {
            switch step {
            case .resume: actions.append("\(lifecycle.resume())")
            case .suspend: actions.append("\(lifecycle.suspend())")
            case .cancel: actions.append("\(lifecycle.cancel())")
            case .complete: lifecycle.complete()
            }
        }
        #expect(actions == test.actions)
        #expect(lifecycle.state == test.state)
    }
}
