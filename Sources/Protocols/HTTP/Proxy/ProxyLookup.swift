import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Asks a session's proxy resolver, and keeps which proxies could not be reached. Confined to the session's loop.
final class ProxyLookup: @unchecked Sendable {  // confined to `loop`, but for the constants
    private let loop: EventLoop
    private let resolver: any ProxyResolver
    private let script: ProxyScript?
    private let scheme: String?
    private let networks: NetworkMonitor
    private var questions = ProxyQuestions()
    private var tasks: [UInt64: Task<Void, Never>] = [:]
    private var waiters: [ProxyQuestions.Waiter: (Result<[Proxy?], any Error>) -> Void] = [:]
    /// Until when a proxy that could not be reached is tried after the others.
    private var avoided: [Proxy: MonotonicTime] = [:]
    private var observer: NetworkMonitor.Observer?

    /// How long that is, in seconds.
    static let avoidance = 300.0
    /// The longest time to connect for a way that has another one behind it, in nanoseconds.
    static let connectLimit: UInt64 = 10_000_000_000

    /// - Parameter scheme: of the servers' URLs; nil for `http` and `https`.
    init(_ core: SessionCore, _ resolver: any ProxyResolver, _ script: ProxyScript?, scheme: String? = nil) {
        self.scheme = scheme
        loop = core.loop
        networks = core.networks
        self.resolver = resolver
        self.script = script
    }

    /// The ways to an origin, those that could not be reached of late behind the others: at once where they are known, else by
    /// the callback, which is not called when the exchange withdraws.
    func ask(
        _ origin: Origin, for waiter: ProxyQuestions.Waiter,
        _ told: @escaping (Result<[Proxy?], any Error>) -> Void
    ) -> [Proxy?]? {
        if observer == nil { observer = networks.observe { [weak self] in self?.forget() } }
        switch questions.ask(origin, for: waiter, now: loop.now) {
        case .known(let proxies):
            return inOrder(proxies)
        case .waits(let actions):
            waiters[waiter] = told
            run(actions)
            return nil
        }
    }

    func withdraw(_ waiter: ProxyQuestions.Waiter) {
        guard waiters.removeValue(forKey: waiter) != nil else { return }
        run(questions.withdraw(waiter))
    }

    func proxyDidFail(_ proxy: Proxy) {
        avoided = avoided.filter { $0.value > loop.now }
        avoided[proxy] = loop.now.advanced(bySeconds: Self.avoidance)
    }

    func proxyDidConnect(_ proxy: Proxy) { if !avoided.isEmpty { avoided[proxy] = nil } }

    func forget() {
        questions.forget()
        avoided = [:]
    }

    func end() {
        observer?.cancel()
        observer = nil
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
            case .tell(let told, let answer):
                let answer = answer.map(inOrder)
                for waiter in told { waiters.removeValue(forKey: waiter)?(answer) }
            }
        }
    }

    private func begin(_ question: ProxyQuestions.Question) {
        let origin = question.origin
        guard let url = URL(string: "\(scheme ?? (origin.isSecure ? "https" : "http"))://\(origin.hostAndPort)") else {
            loop.executeLater { self.didAnswer(question, .failure(ProxyLookupError.unusableHost(origin.host))) }
            return
        }
        let query = ProxyQuery(url: url, script: script)
        // Not a child of the task that happens to have started the load.
        tasks[question.number] = Task.detached(executorPreference: UserCodeExecutor.shared) { [resolver] in
            let answer: Result<[Proxy?], any Error>
            do {
                answer = .success(Self.ways(try await resolver.proxies(for: query)))
            } catch {
                answer = .failure(ProxyLookupError.failed(error))
            }
            self.loop.perform { self.didAnswer(question, answer) }
        }
    }

    private func didAnswer(_ question: ProxyQuestions.Question, _ answer: Result<[Proxy?], any Error>) {
        tasks[question.number] = nil
        run(questions.didAnswer(question, answer, now: loop.now))
    }

    /// Each way once, and one where there is none.
    private static func ways(_ choices: [ProxyChoice]) -> [Proxy?] {
        var seen: Set<Proxy?> = []
        let ways = choices.map(Proxy.make).filter { seen.insert($0).inserted }
        return ways.isEmpty ? [nil] : ways
    }
}

/// Why it is not known how a server is reached.
enum ProxyLookupError: Error {
    /// The program's resolver failed.
    case failed(any Error)
    case unusableHost(String)
}

extension LoadFailure {
    /// What a load fails with.
    static func ofProxyLookup(_ error: any Error) -> any Error {
        switch error {
        case ProxyLookupError.failed(let error as URLError): error
        case ProxyLookupError.failed(is CancellationError):
            LoadFailure(.cannotConnectToHost, "The proxy resolver was cancelled")
        case ProxyLookupError.failed(let error):
            URLError(
                .cannotConnectToHost,
                userInfo: [
                    NSUnderlyingErrorKey: error,
                    NSLocalizedDescriptionKey: "The proxies for the server could not be found: \(Self.text(of: error))",
                ])
        case ProxyLookupError.unusableHost(let host):
            LoadFailure(.cannotConnectToHost, "The proxies for \(host) cannot be asked for: it fits in no URL")
        case let other: other
        }
    }

    private static func text(of error: any Error) -> String {
        (error as? any LocalizedError)?.errorDescription ?? String(describing: error)
    }
}

extension Proxy {
    /// Nil: no proxy.
    fileprivate static func make(_ choice: ProxyChoice) -> Proxy? {
        guard let server = choice.server else { return nil }
        let kind: Kind =
            switch server.kind {
            case .http: .http
            case .https: .https
            case .socks4: .socks4
            case .socks5: .socks5
            }
        let credential = server.user.map { Credential(user: $0, password: server.password ?? "") }
        return Proxy(kind: kind, host: server.host, port: server.port, credential: credential)
    }
}
