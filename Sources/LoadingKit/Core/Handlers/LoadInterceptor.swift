import Foundation

/// Stands between a session and the handlers that load its requests: sees each request before a handler does, and each
/// response before the program does.
///
/// ```swift
/// struct Greeting: LoadInterceptor {
///     func load(_ load: LoadContext) async throws {
///         var request = load.request
///         request.setValue("hello", forHTTPHeaderField: "X-Greeting")
///         try await load.receive(load.next.load(request))
///     }
/// }
/// configuration.interceptors = [Greeting()]
/// ```
///
/// Interceptors are instances, so that two sessions share state only where the program gives both the same one. They are
/// asked in the order of ``URLSessionConfiguration/interceptors``, before the configuration's `protocolClasses`. Each
/// redirect that is followed, and each request that a handler begins in place of another, passes through them anew.
///
/// What only changes requests or the heads of responses costs less as a ``LoadAdapter``.
public protocol LoadInterceptor: Sendable {
    /// Whether the interceptor sees this request. Called on the session's event loop: it must not block. Default: true.
    func canIntercept(_ request: URLRequest) -> Bool

    /// Whether ``load(_:)`` never blocks a thread and never computes for long. It then runs on the session's executor, beside
    /// the connections, which saves several switches between threads for each load. Default: false.
    var runsOnSessionExecutor: Bool { get }

    /// Does what ``URLProtocolHandler/load(_:)`` of a handler does, by the same contract: usually forwards the request with
    /// ``LoadContext/next``, and gives the response to ``LoadContext/receive(_:as:)``.
    ///
    /// It may change the request, wait, forward it several times, answer without forwarding it, or throw. What it throws is the
    /// task's error. It runs in a task that is cancelled when the load ends.
    func load(_ load: LoadContext) async throws
}

extension LoadInterceptor {
    /// Every request.
    public func canIntercept(_ request: URLRequest) -> Bool { true }

    /// Not on the session's executor.
    public var runsOnSessionExecutor: Bool { false }
}

/// A handler whose load is a closure.
final class ClosureHandler: URLProtocolHandler, @unchecked Sendable {  // as its superclass; the closure is Sendable
    private let loadRequest: @Sendable (LoadContext) async throws -> Void

    required init(request: URLRequest, load: @escaping @Sendable (LoadContext) async throws -> Void) {
        loadRequest = load
        super.init(request: request, cachedResponse: nil, client: nil)
    }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        loadRequest = { _ in throw LoadFailure(.unsupportedURL, "there is nothing that loads this") }
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    override func load(_ load: LoadContext) async throws { try await loadRequest(load) }
}
