import Foundation
import Testing

@testable import LoadingKitCore

/// A task has several loads that wait for connections where an interceptor forwards more than once.
@Suite struct QueuedLoadTests {
    private final class Load: QueuedLoad, @unchecked Sendable {  // confined to the session's loop
        var changeCount = 0

        func priorityDidChange() { changeCount += 1 }
    }

    @Test func eachLoadThatWaitsFollowsTheTasksPriority() async throws {
        let session = URLSession(configuration: URLSessionConfiguration(settings: SessionSettings()))
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try #require(URL(string: "none:")))
        let loop = session.core.loop
        let counts = await withCheckedContinuation { done in
            loop.execute {
                let loads = (0..<3).map { _ in Load() }
                for load in loads + loads.prefix(1) { task.loadIsQueued(load) }
                task.loadDidLeaveQueue(loads[2])
                session.core.priorityDidChange(task)
                loop.execute { done.resume(returning: loads.map(\.changeCount)) }
            }
        }
        #expect(counts == [1, 1, 0])
    }

    /// As on Apple's systems, there is room below the low priority, and above the high one.
    @Test func theNamedPrioritiesAreBetweenTheLowestAndTheHighest() {
        let task = URLSessionTask()
        let given: [Float] = [
            -1, URLSessionTask.lowPriority, URLSessionTask.defaultPriority, URLSessionTask.highPriority, 2,
        ]
        var kept: [Float] = []
        for priority in given {
            task.priority = priority
            kept.append(task.priority)
        }
        #expect(kept == [0, 0.25, 0.5, 0.75, 1])
    }
}
