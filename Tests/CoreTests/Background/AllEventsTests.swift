import Dispatch
import Foundation
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// When `urlSessionDidFinishEvents` is called while ends of tasks wait. It is called once, after these ends.
@Suite struct AllEventsTests {
    /// The program suspends the task when the report of all events has been found not to be due, and before the task's
    /// end. It resumes the task when the change was heard.
    @Test func aTaskThatIsSuspendedBeforeItsEndDoesNotHoldTheReportUp() async throws {
        let world = BackgroundWorld(attached: true)
        let task = try await world.runningTasks(1)[0]
        let gate = try await world.holdDelegate(for: task)
        try world.attachAgain(ended: [1])
        await world.turn()
        let core = world.session.core
        core.mailbox.post {
            task.suspend()
            core.loop.execute { core.mailbox.post { task.resume() } }
        }
        gate.signal()
        let calls = ["all events", "finished content 1", "metrics", "completed"]
        for call in calls { #expect(await world.next() == call) }
        world.finish()
    }

    /// The end of a suspended task waits while the daemon is restarted a second time.
    @Test func anEndThatIsSentAgainIsNoNewEvent() async throws {
        let world = BackgroundWorld(attached: true)
        let task = try await world.runningTasks(1)[0]
        task.suspend()
        try world.attachAgain(ended: [1])
        #expect(await world.next() == "all events")
        try world.attachAgain(ended: [1])
        await world.turn()
        task.resume()
        for call in ["finished content 1", "metrics", "completed"] { #expect(await world.next() == call) }
        world.finish()
        #expect(await world.next() == "invalid -997")
    }

    /// The daemon ends between the ends and its message that they were all.
    @Test func anEndThatIsSentAgainBeforeAllWereSentIsReported() async throws {
        let world = BackgroundWorld(attached: true)
        let task = try await world.runningTasks(1)[0]
        task.suspend()
        try world.attachAgain(ended: [1], areAll: false)
        try world.attachAgain(ended: [1])
        #expect(await world.next() == "all events")
        task.resume()
        for call in ["finished content 1", "metrics", "completed"] { #expect(await world.next() == call) }
        world.finish()
    }

    /// The request of the transfer could not be read. The daemon sends its end again until the journal has that it was taken.
    @Test func anEndWithoutATaskIsOneEvent() async throws {
        let world = BackgroundWorld(attached: true)
        for _ in 0..<2 { try world.attachAgain(ended: [7], known: []) }
        #expect(await world.next() == "all events")
        await world.turn()
        world.finish()
        #expect(await world.next() == "invalid -997")
    }

    /// The delegate is busy while the daemon is restarted twice, the second time with another end.
    @Test func aReportThatWaitsIsReplacedByTheNextOne() async throws {
        let world = BackgroundWorld(attached: true)
        let tasks = try await world.runningTasks(2)
        let gate = try await world.holdDelegate(for: tasks[1])
        try world.attachAgain(ended: [1], known: [1, 2])
        try world.attachAgain(ended: [1, 2])
        await world.turn()
        gate.signal()
        for number in 1...2 {
            for call in ["finished content \(number)", "metrics", "completed"] { #expect(await world.next() == call) }
        }
        #expect(await world.next() == "all events")
        world.finish()
        #expect(await world.next() == "invalid -997")
    }

    /// A data task of the session belongs to the program, and its end is no event of the background.
    @Test func theEndOfADataTaskIsNotAwaited() async throws {
        let world = BackgroundWorld(attached: true)
        let task = try await world.runningTasks(1)[0]
        let other = world.session.dataTask(with: TransferRecord.url)
        let gate = try await world.holdDelegate(for: task)
        try world.attachAgain(ended: [1], areAll: false)
        await world.turn()
        other.cancel()
        await world.turn()
        world.send(.deliveredEarlierEvents)
        await world.turn()
        gate.signal()
        for call in ["finished content 1", "metrics", "completed", "all events", "metrics", "completed -999"] {
            #expect(await world.next() == call)
        }
        world.finish()
    }

    /// The end of the first task waits, as the delegate has been called for it. That of the other one does not.
    @Test func theEndOfATaskThatTheJournalHasLostIsAwaited() async throws {
        let world = BackgroundWorld(attached: true)
        let task = try await world.runningTasks(1)[0]
        let gate = try await world.holdDelegate(for: task)
        world.session.downloadTask(with: TransferRecord.url).resume()
        try world.attachAgain(ended: [2])
        await world.turn()
        gate.signal()
        for call in ["finished content 2", "metrics", "completed", "metrics", "completed -997", "all events"] {
            #expect(await world.next() == call)
        }
        world.finish()
    }
}

extension BackgroundWorld {
    /// Tasks for which the delegate has been called, so that their ends wait.
    fileprivate func runningTasks(_ count: Int) async throws -> [URLSessionTask] {
        let tasks = (0..<count).map { _ in session.downloadTask(with: TransferRecord.url) }
        for task in tasks {
            task.resume()
            sendProgress(5, of: task)
            try #require(await next() == "wrote 5 5 of -1")
        }
        return tasks
    }

    /// The delegate is called no more until the semaphore is signalled.
    fileprivate func holdDelegate(for task: URLSessionTask) async throws -> DispatchSemaphore {
        let gate = delegate.holdNextCall()
        sendProgress(6, of: task)
        try #require(await next() == "wrote 1 6 of -1")
        return gate
    }

    private func sendProgress(_ received: Int64, of task: URLSessionTask) {
        var progress = TransferProgress()
        progress.received = received
        send(.progress(task.taskIdentifier, progress))
    }

    /// The daemon was restarted, and reports these tasks' ends.
    ///
    /// - Parameters:
    ///   - known: the tasks that its journal has; nil for those that have ended.
    ///   - areAll: whether it says that these were all earlier events.
    fileprivate func attachAgain(ended: [Int], known: [Int]? = nil, areAll: Bool = true) throws {
        send(.attached(SessionState(nextIdentifier: 9, transfers: (known ?? ended).map { .download($0) })))
        for number in ended { send(.ended(number, .success(file: try file("content \(number)")))) }
        if areAll { send(.deliveredEarlierEvents) }
    }

    /// Waits until the loop has handled the events so far.
    fileprivate func turn() async {
        await withCheckedContinuation { done in session.core.loop.execute { done.resume() } }
    }
}
