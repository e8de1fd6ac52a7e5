import Foundation

/// The source of time for interceptors. Tests supply a clock that they control.
public struct ResilienceClock: Sendable {
    /// Seconds since an arbitrary moment; monotonic.
    public let now: @Sendable () -> TimeInterval
    /// The date, with which dates in fields are compared.
    public let date: @Sendable () -> Date
    /// Waits for a number of seconds. Throws `CancellationError` at once when the task is cancelled.
    public let sleep: @Sendable (TimeInterval) async throws -> Void

    /// Makes a clock from these closures.
    public init(
        now: @escaping @Sendable () -> TimeInterval, date: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (TimeInterval) async throws -> Void
    ) {
        self.now = now
        self.date = date
        self.sleep = sleep
    }

    /// The system's clock.
    public static let system: ResilienceClock = {
        let start = ContinuousClock.now
        return ResilienceClock(
            now: { (ContinuousClock.now - start) / .seconds(1) },
            date: { Date() },
            sleep: { try await Task.sleep(for: .seconds($0.bounded(0, 1e9))) })
    }()

    /// The result of `body` within a number of seconds; nil is no limit.
    ///
    /// - Throws: `URLError.timedOut` after a timeout; `body` is cancelled then.
    func limit<Value: Sendable>(
        _ seconds: TimeInterval?, url: URL?, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let seconds else { return try await body() }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
            group.addTask {
                try await sleep(seconds)
                throw URLError.timedOut(url)
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }
}

extension URLError {
    static func timedOut(_ url: URL?) -> URLError {
        let text = "there was no response within the attemptTimeout or the totalTimeout of the retries"
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: text]
        userInfo[NSURLErrorFailingURLErrorKey] = url
        // The key of `failureURLString`.
        userInfo["NSErrorFailingURLStringKey"] = url?.absoluteString
        return URLError(.timedOut, userInfo: userInfo)
    }
}

extension TimeInterval {
    /// The nearest value within bounds; the lower bound for NaN.
    func bounded(_ lowest: TimeInterval, _ highest: TimeInterval) -> TimeInterval {
        isNaN ? lowest : Swift.min(Swift.max(self, lowest), highest)
    }
}
