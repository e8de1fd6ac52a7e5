import Foundation
import LoadingKit

/// Runs a plan's loads, so many at a time, in one session.
struct LoadRunner {
    private let plan: LoadPlan
    private let console: Console

    init(_ plan: LoadPlan, _ console: Console) {
        self.plan = plan
        self.console = console
    }

    /// The last failure's status; success when all loads went well.
    func run() async -> ToolStatus {
        let queue = DelegateQueue()
        let session = URLSession(configuration: plan.configuration, delegate: nil, delegateQueue: queue.operations)
        let output = OrderedOutput(STDOUT_FILENO, plan.loads.indices.filter { plan.loads[$0].usesStandardOutput })
        let progress = ProgressDisplay(console, queue.dispatch, isShown: showsProgress)
        let status = await runAll(in: session, output, progress)
        session.finishTasksAndInvalidate()
        return status
    }

    /// A progress line between the lines of a body that is shown would be in the way.
    private var showsProgress: Bool {
        plan.display.showsProgress && console.terminal.isTerminal
            && (isatty(STDOUT_FILENO) == 0 || !plan.loads.contains(where: \.usesStandardOutput))
    }

    private func runAll(in session: URLSession, _ output: OrderedOutput, _ progress: ProgressDisplay) async
        -> ToolStatus
    {
        await withTaskGroup(of: ToolFailure?.self, returning: ToolStatus.self) { group in
            var waiting = plan.loads.indices.makeIterator()
            func addNext() {
                guard let index = waiting.next() else { return }
                let transfer = Transfer(index, plan, console, output, progress)
                group.addTask { await transfer.run(in: session) }
            }
            for _ in 0..<min(plan.jobs, plan.loads.count) { addNext() }
            var status = ToolStatus.success
            for await failure in group {
                if let failure {
                    status = failure.status
                    if plan.display.showsErrors { console.write(failure.line) }
                }
                addNext()
            }
            return status
        }
    }
}

extension PlannedLoad {
    fileprivate var usesStandardOutput: Bool { destination == .standardOutput }
}
