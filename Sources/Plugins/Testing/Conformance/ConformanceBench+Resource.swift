import Foundation
import LoadingKit
import Synchronization

/// Checks with a resource that loads without answers of the program.
extension ConformanceBench {
    func checkResource(_ sample: ConformanceSample) async {
        let request = sample.request
        guard let whole = await checkWhole(request) else { return }
        await checkForms(request, whole)
        for stage in LoadObserver.Stage.allCases {
            await checkCancellation(request, whole, stage)
            await checkSuspension(request, whole, stage)
            await checkInvalidation(request, stage)
        }
        await checkFinishing(request, whole)
        await checkManyAtOnce(request, whole)
        await checkRelease(request)
        await checkWebSocket(request)
    }

    /// Loads the resource with a delegate. Its result is the reference for the other kinds of loads.
    private func checkWhole(_ request: URLRequest) async -> Data? {
        let check = "loaded by a data task with a delegate"
        let observer = LoadObserver()
        let outcome = await withSession(check, request.url, delegate: observer) { session in
            await withTimeLimit(5, check, request.url) {
                await observer.run(session.dataTask(with: request), in: session)
            }
        }
        guard let outcome else { return nil }
        note(12, check, request.url, outcome.error.map { "it failed: \($0)" })
        guard outcome.error == nil else { return nil }
        note(8, check, request.url, outcome.response == nil ? "no response came" : nil)
        note(8, check, request.url, Self.disorder(outcome.events))
        if let response = outcome.response {
            note(
                9, check, request.url,
                response.url?.absoluteString == request.url?.absoluteString
                    ? nil : "the response's URL is \(response.url?.absoluteString ?? "nil")")
            let expected = response.expectedContentLength
            note(
                9, check, request.url,
                expected == -1 || expected == Int64(outcome.data.count) || request.httpMethod == "HEAD"
                    ? nil : "expectedContentLength is \(expected), and \(outcome.data.count) bytes came")
        }
        return outcome.data
    }

    /// The error in the order of a delegate's calls: a response, data, metrics, the end; each once, except data.
    private static func disorder(_ events: [LoadObserver.Event]) -> String? {
        var last = 0
        for event in events {
            let place =
                switch event {
                case .redirect, .challenge: 0
                case .response: 1
                case .data, .file: 2
                case .metrics: 3
                case .end: 4
                }
            if place < last || (place == last && place > 2) {
                return "the delegate's calls came in the order \(events)"
            }
            last = place
        }
        return last == 4 ? nil : "the delegate's calls ended with \(events)"
    }

    private func checkForms(_ request: URLRequest, _ whole: Data) async {
        let forms: [(String, @Sendable (URLSession) async throws -> Data)] = [
            ("loaded by data(for:)", { try await $0.data(for: request).0 }),
            (
                "loaded by a data task with a completion handler",
                { session in
                    try await Self.load(request, in: session)
                }
            ),
            (
                "loaded by download(for:)",
                { session in
                    let file = try await session.download(for: request).0
                    defer { try? FileManager.default.removeItem(at: file) }
                    return try Data(contentsOf: file)
                }
            ),
            (
                "loaded by bytes(for:)",
                { session in
                    var data = Data()
                    for try await byte in try await session.bytes(for: request).0 { data.append(byte) }
                    return data
                }
            ),
        ]
        for (check, load) in forms {
            let result = await withSession(check, request.url) { session in
                await withTimeLimit(5, check, request.url) { () -> Result<Data, any Error> in
                    do { return .success(try await load(session)) } catch { return .failure(error) }
                }
            }
            switch result {
            case .success(let data)?:
                note(
                    2, check, request.url,
                    data == whole
                        ? nil : "\(data.count) bytes came that differ from the \(whole.count) of the first load")
            case .failure(let error)?: note(12, check, request.url, "it failed: \(error)")
            case nil: break
            }
        }
    }

    private func checkCancellation(_ request: URLRequest, _ whole: Data, _ stage: LoadObserver.Stage) async {
        let check = "cancelled \(stage.rawValue)"
        let observer = LoadObserver(at: stage) { _, task in task.cancel() }
        let outcome = await withSession(check, request.url, delegate: observer) { session in
            await withTimeLimit(5, check, request.url) {
                await observer.run(session.dataTask(with: request), in: session)
            }
        }
        guard let outcome else { return }
        let isCancelled = (outcome.error as? URLError)?.code == .cancelled
        // A load may end before it is cancelled.
        let isWhole = outcome.error == nil && outcome.data == whole && stage != .beforeItBegan
        let isEmpty = whole.isEmpty && outcome.error == nil
        note(
            5, check, request.url,
            isCancelled || isWhole || isEmpty
                ? nil : "it ended with \(outcome.error.map { "\($0)" } ?? "no error") and \(outcome.data.count) bytes")
        note(
            10, check, request.url,
            outcome.events.count { if case .end = $0 { true } else { false } } == 1 ? nil : "it ended more than once")
    }

    private func checkSuspension(_ request: URLRequest, _ whole: Data, _ stage: LoadObserver.Stage) async {
        let check = "suspended \(stage.rawValue)"
        let observer = LoadObserver(at: stage, perform: { _, task in task.suspend() })
        let outcome = await withSession(check, request.url, delegate: observer) { session in
            await withTimeLimit(14, check, request.url) { () -> LoadObserver.Outcome in
                let task = session.dataTask(with: request)
                async let outcome = observer.run(task, in: session)
                await observer.waitForStage()
                let before = observer.count
                await Self.waitForTurns(of: session)
                if task.state == .suspended, observer.count > before {
                    self.note(
                        14, check, request.url, "\(observer.count - before) bytes came while the task was suspended")
                }
                // A task that is suspended before its start needs one more call.
                task.resume()
                if task.state == .suspended { task.resume() }
                return await outcome
            }
        }
        guard let outcome else { return }
        note(
            14, check, request.url,
            outcome.error == nil && outcome.data == whole
                ? nil
                : "it ended with \(outcome.error.map { "\($0)" } ?? "no error") and \(outcome.data.count) of \(whole.count) bytes"
        )
    }

    /// Lets other operations run on the delegate's queue, so that pending events would arrive.
    private static func waitForTurns(of session: URLSession) async {
        for _ in 0..<20 {
            await withCheckedContinuation { done in session.delegateQueue.addOperation { done.resume() } }
        }
    }

    private func checkInvalidation(_ request: URLRequest, _ stage: LoadObserver.Stage) async {
        let check = "session invalidated \(stage.rawValue)"
        let observer = LoadObserver(at: stage) { session, _ in session.invalidateAndCancel() }
        let outcome = await withSession(check, request.url, delegate: observer) { session in
            await withTimeLimit(5, check, request.url) {
                await observer.run(session.dataTask(with: request), in: session)
            }
        }
        guard let outcome else { return }
        let isCancelled = outcome.error == nil || (outcome.error as? URLError)?.code == .cancelled
        note(5, check, request.url, isCancelled ? nil : "it ended with \(outcome.error.map { "\($0)" } ?? "no error")")
    }

    private func checkFinishing(_ request: URLRequest, _ whole: Data) async {
        let check = "session let finish its tasks"
        let observer = LoadObserver(at: .whenItBegan) { session, _ in session.finishTasksAndInvalidate() }
        let outcome = await withSession(check, request.url, delegate: observer) { session in
            await withTimeLimit(5, check, request.url) {
                await observer.run(session.dataTask(with: request), in: session)
            }
        }
        guard let outcome else { return }
        note(
            10, check, request.url,
            outcome.error == nil && outcome.data == whole
                ? nil : "it ended with \(outcome.error.map { "\($0)" } ?? "no error") and \(outcome.data.count) bytes")
    }

    /// One half of the loads runs in one session, the other half in another. Every tenth is cancelled, and every tenth
    /// is suspended at its start or at its response, until the delegate's queue has had twenty turns.
    private func checkManyAtOnce(_ request: URLRequest, _ whole: Data) async {
        let check = "\(conformance.loadsAtOnce) loads at once"
        let count = conformance.loadsAtOnce
        await withSession(check, request.url) { first in
            await withSession(check, request.url) { second in
                let failed = await withTimeLimit(7, check, request.url) { () -> [String] in
                    await withTaskGroup(of: String?.self) { group in
                        for index in 0..<count {
                            let session = index % 2 == 0 ? first : second
                            group.addTask { await Self.load(request, whole, in: session, index) }
                        }
                        var failed: [String] = []
                        for await failure in group { if let failure { failed.append(failure) } }
                        return failed
                    }
                }
                guard let failed else { return }
                note(
                    7, check, request.url,
                    failed.isEmpty ? nil : "\(failed.count) did not come as they should, the first: \(failed[0])")
            }
        }
    }

    /// Loads with a completion handler.
    private static func load(_ request: URLRequest, in session: URLSession) async throws -> Data {
        let ended = Mutex<CheckedContinuation<Data, any Error>?>(nil)
        let task = session.dataTask(with: request) { data, _, error in
            ended.withLock { $0.take() }?.resume(with: error.map { .failure($0) } ?? .success(data ?? Data()))
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                ended.withLock { $0 = continuation }
                task.resume()
                if Task.isCancelled { task.cancel() }
            }
        } onCancel: {
            task.cancel()
        }
    }

    private static func load(_ request: URLRequest, _ whole: Data, in session: URLSession, _ index: Int) async
        -> String?
    {
        if index % 10 == 3 {
            let observer = Task { try await session.data(for: request) }
            observer.cancel()
            _ = await observer.result
            return nil
        }
        do {
            let data =
                index % 10 == 7
                ? try await loadSuspended(
                    request, in: session, index % 20 == 7 ? .whenItBegan : .whenTheResponseCame)
                : try await session.data(for: request).0
            return data == whole ? nil : "\(data.count) bytes that differ from the first load's"
        } catch {
            return "\(error)"
        }
    }

    /// Loads, suspended at a stage for some turns of the delegate's queue. It waits for no other load: a suspended load
    /// may hold a connection for which others wait.
    private static func loadSuspended(
        _ request: URLRequest, in session: URLSession, _ stage: LoadObserver.Stage
    ) async throws -> Data {
        let observer = LoadObserver(at: stage, perform: { _, task in task.suspend() })
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

    /// Handlers are released when their loads have ended, completely or by a cancellation.
    private func checkRelease(_ request: URLRequest) async {
        guard conformance.handler != nil, !conformance.isInterceptor else { return }
        let check = "handlers released after 20 loads"
        let census = HandlerCensus()
        await withSession(check, request.url, makesHandlers: census) { session in
            for index in 0..<20 {
                let observer = Task { try await session.data(for: request) }
                if index % 2 == 0 { observer.cancel() }
                _ = await observer.result
            }
        }
        // A handler's task may not have returned from `load(_:)` yet.
        _ = await withTimeLimit(6, check, request.url) { () -> Bool in
            while census.living > 0, !Task.isCancelled { await Task.yield() }
            return true
        }
        note(6, check, request.url, census.living == 0 ? nil : "\(census.living) of 20 are still there")
    }

    private func checkWebSocket(_ request: URLRequest) async {
        guard let url = request.url, let scheme = url.scheme?.lowercased(), !["http", "https"].contains(scheme) else {
            return
        }
        let check = "asked for a WebSocket"
        await withSession(check, url) { session in
            let isRefused = await withTimeLimit(22, check, url) { () -> Bool in
                let task = session.webSocketTask(with: url)
                task.resume()
                return await withTaskCancellationHandler {
                    do {
                        _ = try await task.receive()
                        return false
                    } catch {
                        return true
                    }
                } onCancel: {
                    task.cancel()
                }
            }
            if let isRefused { note(22, check, url, isRefused ? nil : "a message was received") }
        }
    }
}
