import Foundation
import LoadingKit

/// Checks with a resource that loads without answers of the program.
extension ConformanceBench {
    /// A resource, and its first load, which is the reference for the others.
    struct Resource: Sendable {
        let request: URLRequest
        let whole: Data
        /// Whether several responses came (`multipart/x-mixed-replace`), so that loads of other kinds have other bytes.
        let hasParts: Bool

        func difference(_ data: Data) -> (rule: Int, details: String)? {
            guard data != whole, !hasParts else { return nil }
            let isOrdered = data.count != whole.count || Self.histogram(data) != Self.histogram(whole)
            return isOrdered
                ? (
                    2,
                    "\(data.count) bytes came that differ from the \(whole.count) of the first load: what a load "
                        + "gives depends on its request alone, and on nothing static"
                )
                : (
                    11,
                    "the first load's bytes came in another order: wait for each call of receive(_:) before the next, "
                        + "and call the client from one thread after the other"
                )
        }

        private static func histogram(_ data: Data) -> [Int] {
            data.reduce(into: [Int](repeating: 0, count: 256)) { $0[Int($1)] += 1 }
        }
    }

    /// Ends where a load does not: each other check would have to wait for its time limit.
    func checkResource(_ resource: Resource) async {
        await checkForms(resource)
        if isStalled(resource.request) { return }
        await checkAfterCancellation(resource)
        for stage in LoadObserver.Stage.allCases where !isStalled(resource.request) {
            await checkCancellation(resource, stage)
            await checkSuspension(resource, stage)
            await checkInvalidation(resource.request, stage)
        }
        for check in [checkFinishing, checkCache, checkManyAtOnce, checkForwarding] where !isStalled(resource.request) {
            await check(resource)
        }
        for check in [checkRelease, checkBlocking, checkBackPressure, checkWebSocket] where !isStalled(resource.request)
        {
            await check(resource.request)
        }
    }

    /// Loads the resource with a delegate.
    func checkWhole(_ request: URLRequest) async -> Resource? {
        let check = ConformanceCheck(self, "loaded by a data task with a delegate", request)
        guard let outcome = await check.outcome(10) else { return nil }
        check.expectSuccess(12, outcome.error)
        guard outcome.error == nil else { return nil }
        check.expect(8, outcome.response != nil, "no response came: give one before load(_:) returns")
        let disorder = Self.disorder(outcome.events)
        check.expect(disorder?.rule ?? 8, disorder == nil, disorder?.details ?? "")
        if let response = outcome.response {
            check.expect(
                9, response.url?.absoluteString == request.url?.absoluteString,
                "the response's URL is \(response.url?.absoluteString ?? "nil"): give the requested one, or redirect")
            let expected = response.expectedContentLength
            check.expect(
                9, expected == -1 || expected == Int64(outcome.data.count) || request.httpMethod == "HEAD",
                "expectedContentLength is \(expected), and \(outcome.data.count) bytes came: give the size, or -1")
        }
        for transaction in outcome.metrics?.transactionMetrics ?? [] {
            let dates = [
                transaction.fetchStartDate, transaction.requestStartDate, transaction.responseStartDate,
                transaction.responseEndDate,
            ].compactMap { $0 }
            // Dates of a monotonic clock and those of a program's clock differ by a little.
            check.expect(
                19, zip(dates, dates.dropFirst()).allSatisfy { $1.timeIntervalSince($0) > -0.01 },
                "the metrics' dates are not in order: start of the fetch, request, response and its end are \(dates)")
        }
        guard outcome.response != nil else { return nil }
        return Resource(request: request, whole: outcome.data, hasParts: outcome.responses > 1)
    }

    /// The error in the order of a delegate's calls: response, data, metrics, the end. A later response replaces an
    /// earlier one and its data.
    private static func disorder(_ events: [LoadObserver.Event]) -> (rule: Int, details: String)? {
        var (last, mayBeReplaced) = (0, false)
        for event in events {
            let place =
                switch event {
                case .redirect, .challenge: 0
                case .response: 1
                case .data, .file: 2
                case .metrics: 3
                case .end: 4
                }
            if place == 1, last == 1, !mayBeReplaced {
                return (9, "a second response replaced the first one before its body: give one response, and its body")
            }
            if place < last && !(place == 1 && last == 2) || place == last && place > 2 {
                return (8, "the delegate's calls came in the order \(events)")
            }
            // The first part's response replaces that of the whole.
            if case .response("multipart/x-mixed-replace") = event {
                mayBeReplaced = true
            } else {
                mayBeReplaced = false
            }
            last = place
        }
        return last == 4 ? nil : (8, "the delegate's calls ended with \(events)")
    }

    private func checkForms(_ resource: Resource) async {
        let request = resource.request
        let forms: [(String, @Sendable (URLSession) async throws -> Data)] = [
            ("data(for:)", { try await $0.data(for: request).0 }),
            ("a data task with a completion handler", { try await Self.load(request, in: $0) }),
            (
                "download(for:)",
                { session in
                    let file = try await session.download(for: request).0
                    defer { try? FileManager.default.removeItem(at: file) }
                    return try Data(contentsOf: file)
                }
            ),
            (
                "bytes(for:)",
                { try await $0.bytes(for: request).0.chunks.reduce(into: Data()) { $0.append($1) } }
            ),
        ]
        for (form, load) in forms {
            let check = ConformanceCheck(self, "loaded by \(form)", request)
            if let data = check.value(12, of: await check.result(10, load)) { expectEqual(data, resource, check) }
        }
    }

    private func expectEqual(_ data: Data, _ resource: Resource, _ check: ConformanceCheck) {
        let difference = resource.difference(data)
        check.expect(difference?.rule ?? 2, difference == nil, difference?.details ?? "")
    }

    private func checkCancellation(_ resource: Resource, _ stage: LoadObserver.Stage) async {
        let check = ConformanceCheck(self, "cancelled \(stage.rawValue)", resource.request)
        guard let outcome = await check.outcome(5, LoadObserver(at: stage) { $1.cancel() }) else { return }
        // A load may end before it is cancelled.
        let isWhole = outcome.error == nil && outcome.data == resource.whole && stage != .beforeItBegan
        let isEmpty = resource.whole.isEmpty && outcome.error == nil
        check.expect(5, outcome.isCancelled || isWhole || isEmpty, "it ended with \(outcome.end)")
        let ends = outcome.events.count { if case .end = $0 { true } else { false } }
        check.expect(10, ends == 1, "it ended more than once")
    }

    private func checkSuspension(_ resource: Resource, _ stage: LoadObserver.Stage) async {
        let check = ConformanceCheck(self, "suspended \(stage.rawValue)", resource.request)
        let observer = LoadObserver(at: stage) { $1.suspend() }
        let outcome = await check.withSession(delegate: observer) { session in
            await check.withTimeLimit(14, progress: { observer.progress }) { () -> LoadObserver.Outcome in
                let task = session.dataTask(with: resource.request)
                async let outcome = observer.run(task, in: session)
                await observer.waitForStage()
                // The time limit has ended the wait.
                guard !Task.isCancelled else { return await outcome }
                let before = observer.count
                await Self.waitForTurns(of: session)
                let count = observer.count - before
                check.expect(
                    14, task.state != .suspended || count == 0, "\(count) bytes came while the task was suspended")
                // A task that is suspended before its start needs one more call.
                task.resume()
                if task.state == .suspended { task.resume() }
                return await outcome
            }
        }
        guard let outcome else { return }
        check.expect(
            14, outcome.error == nil && resource.difference(outcome.data)?.rule != 2,
            "it ended with \(outcome.end) of \(resource.whole.count): what comes meanwhile waits")
    }

    /// Lets other operations run on the delegate's queue, so that pending events would arrive.
    static func waitForTurns(of session: URLSession) async {
        for _ in 0..<20 {
            await withCheckedContinuation { done in session.delegateQueue.addOperation { done.resume() } }
        }
    }

    private func checkInvalidation(_ request: URLRequest, _ stage: LoadObserver.Stage) async {
        let check = ConformanceCheck(self, "session invalidated \(stage.rawValue)", request)
        let observer = LoadObserver(at: stage) { session, _ in session.invalidateAndCancel() }
        guard let outcome = await check.outcome(5, observer) else { return }
        check.expect(5, outcome.error == nil || outcome.isCancelled, "it ended with \(outcome.end)")
    }

    private func checkFinishing(_ resource: Resource) async {
        let check = ConformanceCheck(self, "session let finish its tasks", resource.request)
        let observer = LoadObserver(at: .whenItBegan) { session, _ in session.finishTasksAndInvalidate() }
        guard let outcome = await check.outcome(10, observer) else { return }
        check.expectSuccess(12, outcome.error)
        if outcome.error == nil { expectEqual(outcome.data, resource, check) }
    }

    /// The second load may be answered from the session's cache.
    private func checkCache(_ resource: Resource) async {
        let request = resource.request
        let check = ConformanceCheck(self, "loaded twice in a session with a cache", request)
        let result = await check.result(20) { session in
            _ = try await session.data(for: request)
            return try await session.data(for: request).0
        }
        guard let data = check.value(12, of: result), !resource.hasParts else { return }
        check.expect(
            20, data == resource.whole,
            "\(data.count) bytes of \(resource.whole.count) came, or others: a stored response is answered with "
                + "useCachedResponse()")
    }

    /// Loads with a completion handler.
    static func load(_ request: URLRequest, in session: URLSession) async throws -> Data {
        let completion = LoadCompletion()
        let task = session.dataTask(with: request) { data, _, error in
            completion.end(with: error.map { .failure($0) } ?? .success(data ?? Data()))
        }
        return try await withTaskCancellationHandler {
            try await completion.result {
                task.resume()
                if Task.isCancelled { task.cancel() }
            }
        } onCancel: {
            task.cancel()
        }
    }

    private func checkWebSocket(_ request: URLRequest) async {
        guard let url = request.url, let scheme = url.scheme?.lowercased(), !["http", "https"].contains(scheme) else {
            return
        }
        let check = ConformanceCheck(self, "asked for a WebSocket", request)
        let result = await check.result(22) { session in
            let task = session.webSocketTask(with: url)
            task.resume()
            try await withTaskCancellationHandler {
                _ = try await task.receive()
            } onCancel: {
                task.cancel()
            }
        }
        if let result { check.expect(22, result.error != nil, "a message was received") }
    }
}
