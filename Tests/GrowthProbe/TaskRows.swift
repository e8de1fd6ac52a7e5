import Foundation
import LoadingKit
import LoadingKitTransport

/// Tasks of one session.
enum TaskRows {
    static var all: [String: GrowthProbe.Row] {
        [
            "tasks": finished(.answer),
            "redirects": finished(.redirect),
            "cancelled-first-to-last": cancelled { $0 },
            "cancelled-last-to-first": cancelled { $0.reversed() },
            "tasks-invalidated": invalidated { session, _ in session.invalidateAndCancel() },
            "tasks-invalidated-when-finished": invalidated { session, tasks in
                session.finishTasksAndInvalidate()
                for task in tasks { task.cancel() }
            },
            "deadlines": { expire($0) },
            "all-tasks": { getAll($0) },
        ]
    }

    /// All are made, then all are resumed, then all end.
    private static func finished(_ stub: Stub) -> GrowthProbe.Row {
        { count in
            let (session, probe) = ProbeSession.make()
            let tasks = (0..<count).map { _ in probe.task(stub.request, in: session) }
            for task in tasks { task.resume() }
            probe.waitForEnds()
        }
    }

    private static func cancelled(_ order: @escaping ([URLSessionTask]) -> [URLSessionTask]) -> GrowthProbe.Row {
        { count in
            let (session, probe) = ProbeSession.make()
            for task in order(probe.tasks(count, .hang, in: session)) { task.cancel() }
            probe.waitForEnds()
        }
    }

    private static func invalidated(
        _ invalidate: @escaping (URLSession, [URLSessionTask]) -> Void
    ) -> GrowthProbe.Row {
        { count in
            let (session, probe) = ProbeSession.make()
            invalidate(session, probe.tasks(count, .hang, in: session))
            probe.waitForEnds()
            probe.waitForInvalidation()
        }
    }

    /// Each task has a time of its own, and each time comes.
    private static func expire(_ count: Int) {
        let time = ManualTime()
        let (session, probe) = ProbeSession.make(on: EventLoop(name: "growth", time: .manual(time)))
        for number in 0..<count {
            var request = Stub.hang.request
            request.timeoutInterval = TimeInterval(number + 1)
            probe.task(request, in: session).resume()
        }
        probe.settle()
        time.advance(by: .seconds(count + 1))
        probe.waitForEnds()
    }

    private static func getAll(_ count: Int) {
        let (session, probe) = ProbeSession.make()
        let tasks = probe.tasks(count, .hang, in: session)
        let done = DispatchSemaphore(value: 0)
        session.getAllTasks { _ in done.signal() }
        done.wait()
        withExtendedLifetime(tasks) {}
    }
}
