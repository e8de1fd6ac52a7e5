import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Finds the routes to servers: by the rules of a session's settings, or with the session's resolver. It remembers
/// proxies that could not be reached. Confined to the session's loop.
package final class ProxyFinder: @unchecked Sendable {  // confined to `loop`, except the constants
    private let loop: EventLoop
    private let rules: ProxyRules
    private let resolver: (any ProxyResolver)?
    private let networks: NetworkMonitor
    private var questions = ProxyQuestions()
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var waiters: [ProxyQuestions.Waiter: (Result<[Proxy?], any Error>) -> Void] = [:]
    /// For each proxy that could not be reached, the time until which it is tried after the others.
    private var avoided: [Proxy: MonotonicTime] = [:]
    private var networkWatch: NetworkWatch?

    /// The duration of this avoidance, in seconds.
    package static let avoidance = 300.0
    /// The rest of it after a change of the networks, in seconds: the proxy may be reached from the new one. On some
    /// machines the networks change all the time.
    private static let avoidanceAfterChange = 15.0

    package init(_ core: SessionCore) {
        loop = core.loop
        networks = core.networks
        rules = ProxyRules(core.settings)
        resolver = core.settings.proxyResolver
    }

    /// Whether a server may be reached through a proxy.
    package var mayUseProxies: Bool { rules.mayUseProxies }

    /// The result of the rules, which do not change during the session.
    package func answer(for target: ProxyTarget) throws(LoadFailure) -> ProxyRules.Answer {
        try rules.answer(for: target)
    }

    /// Finds the routes to a server. Proxies that could not be reached recently come last.
    ///
    /// - Parameters:
    ///   - waiter: the load's number, which is unique among the finder's loads.
    ///   - completion: called once, during this call if the routes are known; never after ``withdraw(_:)``.
    package func findRoutes(
        to target: ProxyTarget, for waiter: UInt64, _ completion: @escaping (Result<[Proxy?], any Error>) -> Void
    ) throws(LoadFailure) {
        if case .proxy(let proxy) = try rules.answer(for: target) { return completion(.success([proxy])) }
        if networkWatch == nil {
            networkWatch = NetworkWatch(networks, loop) { [weak self] in self?.networkDidChange() }
        }
        switch questions.ask(target, for: waiter, now: loop.now) {
        case .known(let proxies): completion(.success(inOrder(proxies)))
        case .waits(let actions):
            waiters[waiter] = completion
            run(actions)
        }
    }

    package func withdraw(_ waiter: UInt64) {
        guard waiters.removeValue(forKey: waiter) != nil else { return }
        run(questions.withdraw(waiter))
    }

    /// Records that a connection through a route has failed. If the proxy itself is the reason, it is tried after the
    /// others for a while. A lack of networks is not the proxy's failure: the load may exclude the one that leads to
    /// the proxy.
    package func proxyDidFail(_ proxy: Proxy?, _ error: any Error) {
        guard rules.asksResolver, let proxy, let error = error as? ProxyError, error.isOfProxy, error.cause != .silent,
            !error.isLackOfNetwork
        else { return }
        avoided = avoided.filter { $0.value > loop.now }
        avoided[proxy] = loop.now.advanced(bySeconds: Self.avoidance)
    }

    package func proxyDidConnect(_ proxy: Proxy?) { if !avoided.isEmpty, let proxy { avoided[proxy] = nil } }

    package func forget() {
        questions.forget()
        avoided = [:]
    }

    private func networkDidChange() {
        questions.forget()
        guard !avoided.isEmpty else { return }
        let end = loop.now.advanced(bySeconds: Self.avoidanceAfterChange)
        avoided = avoided.mapValues { min($0, end) }
    }

    package func end() {
        networkWatch = nil
        waiters = [:]
        run(questions.end())
    }

    private func inOrder(_ proxies: [Proxy?]) -> [Proxy?] {
        guard !avoided.isEmpty, proxies.count > 1 else { return proxies }
        let now = loop.now
        func isAvoided(_ proxy: Proxy?) -> Bool { proxy.flatMap { avoided[$0] }.map { now < $0 } ?? false }
        return proxies.filter { !isAvoided($0) } + proxies.filter(isAvoided)
    }

    private func run(_ actions: [ProxyQuestions.Action]) {
        for action in actions {
            switch action {
            case .begin(let question): begin(question)
            case .cancel(let question): tasks[question.number]?.cancel()
            case .tell(let loads, let answer):
                let answer = answer.map(inOrder).mapError(Self.loadError)
                for waiter in loads { waiters.removeValue(forKey: waiter)?(answer) }
            }
        }
    }

    private func begin(_ question: ProxyQuestions.Question) {
        guard let url = question.target.url, let resolver else {
            let failure = LoadFailure(
                .cannotConnectToHost, "The proxies for \(question.target.host) cannot be asked for: it fits in no URL")
            return loop.executeLater { self.didAnswer(question, .failure(failure)) }
        }
        let query = ProxyQuery(url: url, script: rules.script)
        // The task is detached, so that it is not a child of the task that started the load.
        tasks[question.number] = Task.detached(executorPreference: UserCodeExecutor.shared) {
            let answer: Result<[Proxy?], any Error>
            do {
                answer = .success(Self.routes(try await resolver.proxies(for: query)))
            } catch {
                answer = .failure(ResolverError(error: error))
            }
            self.loop.perform { self.didAnswer(question, answer) }
        }
    }

    private func didAnswer(_ question: ProxyQuestions.Question, _ answer: Result<[Proxy?], any Error>) {
        tasks[question.number] = nil
        run(questions.didAnswer(question, answer, now: loop.now))
    }

    /// The different routes in order; the direct route if there are none.
    private static func routes(_ choices: [ProxyChoice]) -> [Proxy?] {
        var seen: Set<Proxy?> = []
        let routes = choices.map(\.server).filter { seen.insert($0).inserted }
        return routes.isEmpty ? [nil] : routes
    }

    /// The program's resolver failed.
    private struct ResolverError: Error {
        let error: any Error
    }

    /// The error with which a load fails.
    private static func loadError(_ error: any Error) -> any Error {
        guard let error = (error as? ResolverError)?.error else { return error }
        switch error {
        case is URLError: return error
        case is CancellationError: return LoadFailure(.cannotConnectToHost, "The proxy resolver was cancelled")
        case _:
            let text = (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
            return URLError(
                .cannotConnectToHost,
                userInfo: [
                    NSUnderlyingErrorKey: error,
                    NSLocalizedDescriptionKey: "The proxies for the server could not be found: \(text)",
                ])
        }
    }
}
