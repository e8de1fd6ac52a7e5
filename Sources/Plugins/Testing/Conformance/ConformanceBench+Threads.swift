import Foundation
import LoadingKit

/// Checks of threads that are blocked, and of data that is not held back.
extension ConformanceBench {
    /// The time, in seconds, that a load may block its thread.
    private static let blockingLimit = 0.04
    /// The number of bytes that may be ahead of a reader.
    private static let aheadLimit = 4 << 20
    /// The time without progress after which a source counts as held back.
    private static let quietTime = Duration.milliseconds(150)

    /// A load that blocks does so each time: a single long pause may have another reason.
    func checkBlocking(_ request: URLRequest) async {
        let check = ConformanceCheck(self, "loaded while its threads are watched", request)
        let watch = LoadWatch()
        var (inLoads, inFactories) = (Double.infinity, Double.infinity)
        for _ in 0..<3 where max(inLoads, inFactories) > Self.blockingLimit {
            let observer = LoadObserver()
            let outcome = await check.withSession(delegate: observer, watchedBy: watch) { session in
                await check.withTimeLimit(10, progress: { observer.progress }) {
                    await observer.run(session.dataTask(with: request), in: session)
                }
            }
            let blocked = await watch.takeBlocked()
            (inLoads, inFactories) = (min(inLoads, blocked.inLoads), min(inFactories, blocked.inFactories))
            if outcome == nil { return }
        }
        check.expect(
            3, inLoads <= Self.blockingLimit,
            "load(_:) blocked its thread for \(Int(inLoads * 1000)) ms in each of 3 loads: call async functions, or "
                + "run what blocks in load.offLoop { }")
        check.expect(
            1, inFactories <= Self.blockingLimit,
            "the function of register(scheme:_:) blocked the event loop for \(Int(inFactories * 1000)) ms: make the "
                + "handler only, and do the work in load(_:)")
    }

    /// The shortest time, in seconds, of some calls; the longest is no measure on a busy machine.
    static func shortestTime(of body: () -> Void) -> Double {
        let clock = ContinuousClock()
        var shortest = Double.infinity
        for _ in 0..<10 where shortest > blockingTimeOfDecisions {
            shortest = min(shortest, clock.measure(body) / .seconds(1))
        }
        return shortest
    }

    /// The time, in seconds, that functions may take that run on the event loop.
    static let blockingTimeOfDecisions = 0.003

    // MARK: Back pressure

    /// Suspends the task before its body is read, and measures how much is taken from the source.
    func checkBackPressure(_ request: URLRequest) async {
        if let bytesTaken = conformance.bytesTaken {
            let check = ConformanceCheck(
                self, "suspended when the response came, while its source is measured", request)
            let before = bytesTaken()
            await checkBackPressure(check, behind: nil, taken: { bytesTaken() - before })
        }
        guard hasInterceptors else { return }
        let check = ConformanceCheck(self, "suspended when the response came, with a body of 16 MiB", request)
        let taken = ByteCount()
        let probe = LoadProbe { load in
            let head = try await load.next.load(load.request).response
            try await load.receive(head.withoutLength)
            let piece = Data(count: 65_536)
            for _ in 0..<256 {
                try await load.receive(piece)
                taken.add(piece.count)
            }
        }
        await checkBackPressure(check, behind: probe, taken: { taken.value })
    }

    private func checkBackPressure(
        _ check: ConformanceCheck, behind probe: LoadProbe?, taken: @escaping @Sendable () -> Int
    ) async {
        let observer = LoadObserver(at: .whenTheResponseCame) { $1.suspend() }
        let most = await check.withSession(delegate: observer, behind: probe) { session in
            let task = session.dataTask(with: check.request)
            async let outcome = check.withTimeLimit(13, progress: { taken() + observer.progress }) {
                await observer.run(task, in: session)
            }
            await observer.waitForStage()
            var (count, quiet) = (taken(), ContinuousClock.now)
            while count <= Self.aheadLimit, ContinuousClock.now - quiet < Self.quietTime {
                try? await Task.sleep(for: .milliseconds(5))
                if taken() != count { (count, quiet) = (taken(), .now) }
            }
            task.cancel()
            _ = await outcome
            return count
        }
        check.expect(
            13, most <= Self.aheadLimit,
            "more than \(Self.aheadLimit >> 20) MiB were taken that the program did not read: give each piece to "
                + "receive(_:), and take the next one when it has returned")
    }
}

extension URLResponse {
    /// The same head for a body of another size.
    fileprivate var withoutLength: URLResponse {
        guard let url else { return self }
        guard let response = self as? HTTPURLResponse else {
            return URLResponse(
                url: url, mimeType: mimeType, expectedContentLength: -1, textEncodingName: textEncodingName)
        }
        let fields = (response.allHeaderFields as? [String: String] ?? [:]).filter {
            !["content-length", "content-encoding"].contains($0.key.lowercased())
        }
        return HTTPURLResponse(url: url, statusCode: response.statusCode, httpVersion: nil, headerFields: fields)
            ?? self
    }
}
