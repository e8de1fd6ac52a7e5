import Foundation
import LoadingKit
import Logging
import Synchronization

/// The state of one run of the checks: makes sessions and loads, and collects findings.
final class ConformanceBench: Sendable {
    let conformance: HandlerConformance
    private let state = Mutex(ConformanceReport())

    init(_ conformance: HandlerConformance) { self.conformance = conformance }

    var report: ConformanceReport { state.withLock { $0 } }

    /// Records a check and its result.
    ///
    /// - Parameter details: nil where the handler follows the rule.
    func note(_ rule: Int, _ check: String, _ url: URL?, _ details: String?) {
        state.withLock { report in
            if !report.checks.contains(check) { report.checks.append(check) }
            if let details {
                report.findings.append(
                    ConformanceReport.Finding(rule: rule, check: check, url: url, details: details))
            }
        }
    }

    /// Calls `body` with its own session. Breaches of the contract that LoadingKit logs are findings.
    func withSession<Result>(
        _ check: String, _ url: URL?, delegate: LoadObserver? = nil, makesHandlers: HandlerCensus? = nil,
        _ body: (URLSession) async throws -> Result
    ) async rethrows -> Result {
        let configuration = URLSessionConfiguration.ephemeral
        conformance.configure(configuration)
        if let handler = conformance.handler {
            if let makesHandlers, let scheme = url?.scheme {
                configuration.register(scheme: scheme) { makesHandlers.make(handler, $0) }
            } else {
                configuration.protocolClasses = [handler] + (configuration.protocolClasses ?? [])
            }
        }
        configuration.logger = Logger(label: "conformance") { [self] _ in
            BreachLog { [self] rule, message in note(rule, check, url, message) }
        }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        return try await body(session)
    }

    /// The result of `body`; nil, and a finding, where it exceeds the time limit.
    func withTimeLimit<Result: Sendable>(
        _ rule: Int, _ check: String, _ url: URL?, _ body: @escaping @Sendable () async -> Result
    ) async -> Result? {
        let limit = conformance.timeLimit
        let result = await withTaskGroup(of: Result?.self) { group in
            group.addTask { await body() }
            group.addTask {
                try? await Task.sleep(for: .seconds(limit > 0 ? min(limit, 1e9) : 0))
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if result == nil { note(rule, check, url, "it did not end within \(limit) s") }
        return result
    }
}

/// Forwards the warnings that name a rule of the contract.
private struct BreachLog: LogHandler {
    let report: @Sendable (Int, String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    init(_ report: @escaping @Sendable (Int, String) -> Void) { self.report = report }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard case .string(let text)? = event.metadata?["rule"], let rule = Int(text) else { return }
        report(rule, event.message.description)
    }
}

/// Makes handlers, and counts those that still exist.
final class HandlerCensus: Sendable {
    private struct Entry: @unchecked Sendable {  // weak references may be read from any thread
        weak var handler: URLProtocolHandler?
    }

    private let entries = Mutex<[Entry]>([])

    func make(_ type: URLProtocolHandler.Type, _ request: URLRequest) -> URLProtocolHandler {
        let handler = type.init(
            request: type.canonicalRequest(for: request), cachedResponse: nil, client: nil)
        entries.withLock { $0.append(Entry(handler: handler)) }
        return handler
    }

    var living: Int { entries.withLock { $0.count { $0.handler != nil } } }
}
