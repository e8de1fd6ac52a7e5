import Foundation
import LoadingKit
import Synchronization

/// Checks with several loads.
extension ConformanceBench {
    /// One half of the loads runs in one session, the other half in another. Every tenth is cancelled, and every tenth
    /// is suspended at its start or at its response, until the delegate's queue has had twenty turns.
    func checkManyAtOnce(_ resource: Resource) async {
        let count = conformance.loadsAtOnce
        let check = ConformanceCheck(self, "\(count) loads at once", resource.request)
        await check.withSession { first in
            await check.withSession { second in
                let ended = ByteCount()
                let failed = await check.withTimeLimit(
                    7, progress: { ended.value }, advice: "no load waits for another one that is suspended or cancelled"
                ) { () -> [(rule: Int, details: String)] in
                    await withTaskGroup(of: (rule: Int, details: String)?.self) { group in
                        for index in 0..<count {
                            let session = index % 2 == 0 ? first : second
                            group.addTask { await Self.load(resource, in: session, index) }
                        }
                        var failed: [(rule: Int, details: String)] = []
                        for await failure in group {
                            ended.add(1)
                            if let failure { failed.append(failure) }
                        }
                        return failed
                    }
                }
                check.expect(7, true, "")
                for failure in failed ?? [] { check.expect(failure.rule, false, failure.details) }
            }
        }
    }

    private static func load(_ resource: Resource, in session: URLSession, _ index: Int) async
        -> (rule: Int, details: String)?
    {
        let request = resource.request
        if index % 10 == 3 {
            await loadCancelled(request, in: session)
            return nil
        }
        do {
            let data =
                index % 10 == 7
                ? try await loadSuspended(
                    request, in: session, index % 20 == 7 ? .whenItBegan : .whenTheResponseCame)
                : try await session.data(for: request).0
            return resource.difference(data)
        } catch {
            return (7, "it failed among others that run at once: \(error)")
        }
    }

    private static func loadCancelled(_ request: URLRequest, in session: URLSession) async {
        let load = Task { try await session.data(for: request) }
        load.cancel()
        _ = await load.result
    }

    /// Loads, suspended at a stage for some turns of the delegate's queue. It waits for no other load: a suspended load
    /// may hold a connection for which others wait.
    private static func loadSuspended(
        _ request: URLRequest, in session: URLSession, _ stage: LoadObserver.Stage
    ) async throws -> Data {
        let observer = LoadObserver(at: stage) { $1.suspend() }
        let task = session.dataTask(with: request)
        task.delegate = observer
        async let outcome = observer.run(task, in: session)
        await observer.waitForStage()
        await waitForTurns(of: session)
        task.resume()
        let end = await outcome
        if let error = end.error { throw error }
        return end.data
    }

    /// Loads each resource while another one, or the same, is suspended in its body, in another session.
    func checkSharing(_ resources: [Resource]) async {
        for (index, resource) in resources.enumerated() {
            await checkNested(resource, around: resources[(index + 1) % resources.count])
        }
    }

    private func checkNested(_ outer: Resource, around inner: Resource) async {
        let check = ConformanceCheck(self, "suspended in the body, while another load runs", outer.request)
        // The disposition of the response is not given yet, so that the handler is held back in the body.
        let observer = LoadObserver(at: .whenTheResponseCame) { $1.suspend() }
        await check.withSession(delegate: observer) { session in
            let task = session.dataTask(with: outer.request)
            async let outcome = check.withTimeLimit(10, progress: { observer.progress + Int(task.state.rawValue) }) {
                await observer.run(task, in: session)
            }
            await observer.waitForStage()
            let other = ConformanceCheck(self, "loaded while another load is suspended in its body", inner.request)
            await self.load(
                inner, other, "a load waits for no other one: hold nothing that others need while receive waits")
            task.resume()
            guard let outcome = await outcome else { return }
            check.expectSuccess(7, outcome.error)
            if outcome.error == nil { expect(outcome.data, outer, check) }
        }
    }

    private func load(_ resource: Resource, _ check: ConformanceCheck, _ advice: String) async {
        let result = await check.withSession { session in
            await check.withTimeLimit(7, advice: advice) { () -> Result<Data, any Error> in
                do { return .success(try await Self.load(resource.request, in: session)) } catch {
                    return .failure(error)
                }
            }
        }
        if let data = check.value(7, of: result) { expect(data, resource, check) }
    }

    private func expect(_ data: Data, _ resource: Resource, _ check: ConformanceCheck) {
        let difference = resource.difference(data)
        check.expect(
            2, difference == nil,
            "\(data.count) bytes came that are not the resource's \(resource.whole.count): another load changed them. "
                + "Keep what belongs to a load in the handler, and nothing in static state")
    }

    func checkAfterCancellation(_ resource: Resource) async {
        let cancelled = ConformanceCheck(self, "cancelled in the body, before another load", resource.request)
        guard await cancelled.outcome(5, LoadObserver(at: .whenTheResponseCame) { $1.cancel() }) != nil else {
            return
        }
        let check = ConformanceCheck(self, "loaded after another load was cancelled in its body", resource.request)
        await load(resource, check, "a cancelled load gives back what others need: use defer")
    }

    // MARK: Release

    /// A task is held by the `LoadContext` and the handler of its load: it exists until `load(_:)` has returned, and
    /// nothing holds the handler.
    func checkRelease(_ request: URLRequest) async {
        let check = ConformanceCheck(self, "released after 10 loads, and after 20 that are cancelled", request)
        let (ended, cancelled) = (TaskCensus(), TaskCensus())
        let limit = min(conformance.timeLimit, 5)
        // `ending()` returns when the cancellation has reached the load.
        let cancelling = LoadWatch {
            $0.task.cancel()
            _ = await $0.ending()
        }
        for watch in [nil, cancelling] {
            let isWhole = await check.withSession(watchedBy: watch) { session in
                await loadOften(session, check, ended: watch == nil ? ended : nil, cancelled)
            }
            if isWhole == nil { return }
        }
        let held = await ended.living(afterQuiet: limit)
        check.expect(
            6, held == 0,
            "\(held) of 10 loads that have ended are still held, after \(limit) s: a timer, task, continuation, "
                + "observer or static property holds the handler or its LoadContext, or the handler holds itself")
        guard held == 0 else { return }
        let running = await cancelled.living(afterQuiet: limit)
        check.expect(
            5, running == 0,
            "\(running) of 20 loads go on \(limit) s after they were cancelled: let CancellationError leave load(_:), "
                + "test Task.isCancelled where it waits, and end the work of startLoading() in stopLoading()")
    }

    /// - Parameter ended: the tasks that are not cancelled; nil where all are.
    private func loadOften(
        _ session: URLSession, _ check: ConformanceCheck, ended: TaskCensus?, _ cancelled: TaskCensus
    ) async -> Bool? {
        let count = ByteCount()
        return await check.withTimeLimit(10, progress: { count.value }) {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<10 {
                    let stages: [LoadObserver.Stage] = [.whenItBegan, .whenTheResponseCame, .whenTheFirstBytesCame]
                    let observer = ended == nil ? LoadObserver() : LoadObserver(at: stages[index % 3]) { $1.cancel() }
                    group.addTask {
                        await Self.load(check.request, in: session, observer, cancelled)
                        if let ended { await Self.load(check.request, in: session, LoadObserver(), ended) }
                        count.add(1)
                    }
                }
            }
            return true
        }
    }

    private static func load(
        _ request: URLRequest, in session: URLSession, _ observer: LoadObserver, _ census: TaskCensus
    ) async {
        let task = session.dataTask(with: request)
        task.delegate = observer
        census.add(task)
        _ = await observer.run(task, in: session)
    }
}

/// Counts the tasks that still exist.
private final class TaskCensus: Sendable {
    private struct Entry: @unchecked Sendable {  // weak references may be read from any thread
        weak var task: URLSessionTask?
    }

    private let entries = Mutex<[Entry]>([])

    func add(_ task: URLSessionTask) { entries.withLock { $0.append(Entry(task: task)) } }

    private var living: Int { entries.withLock { $0.count { $0.task != nil } } }

    /// The number of tasks, when none has been released for some seconds. A release is no event that can be awaited.
    func living(afterQuiet seconds: TimeInterval) async -> Int {
        var (count, quiet) = (living, ContinuousClock.now)
        while count > 0, ContinuousClock.now - quiet < .seconds(seconds) {
            try? await Task.sleep(for: .milliseconds(2))
            if living != count { (count, quiet) = (living, .now) }
        }
        return count
    }
}
