import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
import Logging
import Synchronization

/// One run of the checks, and its report.
final class ConformanceBench: Sendable {
    let conformance: HandlerConformance
    private let state = Mutex(ConformanceReport())
    private let stalled = Mutex<Set<URLRequest>>([])

    init(_ conformance: HandlerConformance) { self.conformance = conformance }

    var report: ConformanceReport { state.withLock { $0 } }

    /// Adds a check to the report.
    ///
    /// - Parameter details: nil where the handler follows the rule.
    func note(_ rule: Int, _ check: String, _ url: URL?, _ details: String?) {
        state.withLock { report in
            report.note(check: check)
            guard let details else { return }
            report.add(ConformanceReport.Finding(rule: rule, check: check, url: url, details: details))
        }
    }

    /// Notes that a load of this request did not end.
    func noteStall(_ request: URLRequest) { stalled.withLock { _ = $0.insert(request) } }

    func isStalled(_ request: URLRequest) -> Bool { stalled.withLock { $0.contains(request) } }

    /// Whether loads pass through code that forwards them with a `LoadContext`.
    var hasInterceptors: Bool {
        let configuration = URLSessionConfiguration.ephemeral
        conformance.configure(configuration)
        return !configuration.interceptors.isEmpty || interceptorClass != nil
    }

    /// The checked class, where it is an interceptor with a `load(_:)`.
    var interceptorClass: URLProtocolHandler.Type? {
        guard conformance.isInterceptor, let type = conformance.handler,
            let url = conformance.samples.first?.request.url
        else { return nil }
        let handler = type.init(request: URLRequest(url: url), cachedResponse: nil, client: nil)
        return handler.overridesStartLoading ? nil : type
    }
}

/// A check of one operation: makes its sessions and loads, and reports its findings.
struct ConformanceCheck: Sendable {
    private let bench: ConformanceBench
    private let name: String
    let request: URLRequest

    /// - Parameter name: the operation, such as `cancelled when the response came`.
    init(_ bench: ConformanceBench, _ name: String, _ request: URLRequest) {
        self.bench = bench
        self.name = name
        self.request = request
    }

    /// Reports whether the handler follows a rule.
    ///
    /// - Parameter details: the observation where it does not.
    func expect(_ rule: Int, _ isKept: Bool, _ details: @autoclosure () -> String) {
        bench.note(rule, name, request.url, isKept ? nil : details())
    }

    /// Reports an error of a load that should succeed.
    func expectSuccess(_ rule: Int, _ error: (any Error)?) {
        expect(rule, error == nil, "it failed: \(error.map { "\($0)" } ?? "")")
    }

    /// The value of a load that should succeed; nil where it has failed, which is reported, or has no result.
    func value<Value>(_ rule: Int, of result: Result<Value, any Error>?) -> Value? {
        if let error = result?.error { expectSuccess(rule, error) }
        return try? result?.get()
    }

    /// The outcome of a task; nil, and a finding, where it exceeds the time limit. Default: of a data task.
    func outcome(
        _ rule: Int, _ observer: LoadObserver = LoadObserver(), behind probe: LoadProbe? = nil,
        _ makeTask: (@Sendable (URLSession) -> URLSessionTask)? = nil
    ) async -> LoadObserver.Outcome? {
        await withSession(delegate: observer, behind: probe) { session in
            await withTimeLimit(rule, progress: { observer.progress }) {
                await observer.run(makeTask?(session) ?? session.dataTask(with: request), in: session)
            }
        }
    }

    /// The result of a load without a delegate; nil, and a finding, where it exceeds the time limit.
    func result<Value: Sendable>(
        _ rule: Int, behind probe: LoadProbe? = nil, _ load: @escaping @Sendable (URLSession) async throws -> Value
    ) async -> Result<Value, any Error>? {
        await withSession(behind: probe) { await result(rule, in: $0, load) }
    }

    func result<Value: Sendable>(
        _ rule: Int, in session: URLSession, _ load: @escaping @Sendable (URLSession) async throws -> Value
    ) async -> Result<Value, any Error>? {
        let progress: @Sendable () async -> Int = {
            await session.allTasks.reduce(0) {
                $0 &+ Int(truncatingIfNeeded: $1.countOfBytesReceived &+ $1.countOfBytesSent)
            }
        }
        return await withTimeLimit(rule, progress: progress) { () -> Result<Value, any Error> in
            do { return .success(try await load(session)) } catch { return .failure(error) }
        }
    }

    /// Calls `body` with its own session. Breaches of the contract that LoadingKit logs are findings.
    ///
    /// - Parameters:
    ///   - probe: loads the requests that all interceptors have passed on.
    ///   - watch: observes the threads of the handlers' and interceptors' loads.
    func withSession<Result>(
        delegate: LoadObserver? = nil, behind probe: LoadProbe? = nil, watchedBy watch: LoadWatch? = nil,
        _ body: (URLSession) async -> Result
    ) async -> Result {
        let configuration = URLSessionConfiguration.ephemeral
        bench.conformance.configure(configuration)
        if let probe {
            // Classes come behind all interceptors, and the probe behind the class.
            configuration.interceptors += (bench.interceptorClass.map { [ClassInterceptor(type: $0)] } ?? []) + [probe]
        }
        switch bench.conformance.handler {
        case let handler? where watch != nil:
            configuration.register(scheme: request.url?.scheme ?? "") {
                handler.init(request: handler.canonicalRequest(for: $0), cachedResponse: nil, client: nil)
            }
        case let handler? where probe == nil || !bench.conformance.isInterceptor:
            configuration.protocolClasses = [handler] + (configuration.protocolClasses ?? [])
        default: break
        }
        if let watch {
            watch.install(in: configuration)
        } else {
            configuration.logger = Logger(label: "conformance") { [self] _ in
                ContractViolationLog { [self] rule, message in
                    expect(rule, false, message + ContractRule.advice(rule))
                }
            }
        }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        return await body(session)
    }

    /// The result of `body`; nil, and a finding, where nothing happens for as long as the time limit.
    ///
    /// - Parameter progress: a number that changes with each event in `body`. The time starts again then.
    func withTimeLimit<Result: Sendable>(
        _ rule: Int, progress: @escaping @Sendable () async -> Int = { 0 },
        advice: String =
            "a load ends when load(_:) returns or throws, or by urlProtocolDidFinishLoading or didFailWithError",
        _ body: @escaping @Sendable () async -> Result
    ) async -> Result? {
        let limit = bench.conformance.timeLimit
        let result = await withTaskGroup(of: Result?.self) { group in
            group.addTask { await body() }
            group.addTask {
                var before: Int
                repeat {
                    before = await progress()
                    await Self.sleepInTime(limit > 0 ? min(limit, 1e9) : 0)
                } while await progress() != before && !Task.isCancelled
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if result == nil {
            bench.noteStall(request)
            expect(rule, false, "it did not end: nothing came for \(limit) s (\(advice))")
        }
        return result
    }

    /// Sleeps for some seconds, not counting those in which the machine was too busy to wake this task in time: a load
    /// had no time in them, either. Four times as long at most. Returns early where this task is cancelled.
    private static func sleepInTime(_ seconds: TimeInterval) async {
        let slice = Duration.seconds(seconds / 10)
        var timely = 0
        for _ in 0..<40 where timely < 10 && !Task.isCancelled {
            let start = ContinuousClock.now
            try? await Task.sleep(for: slice)
            if ContinuousClock.now - start < slice * 1.5 + .milliseconds(20) { timely += 1 }
        }
    }
}

extension Result {
    /// The error; nil for a success.
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// Forwards the warnings that name a rule of the contract.
private struct ContractViolationLog: LogHandler {
    let report: @Sendable (Int, String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard case .string(let text)? = event.metadata?["rule"], let rule = Int(text) else { return }
        report(rule, event.message.description)
    }
}
