import Foundation

/// Stands between a session and the handlers that load its requests: it gets each request before a handler does, and
/// each response before the program does.
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
/// Interceptors are instances: two sessions share state only where the program gives both the same instance. They are
/// called in the order of ``URLSessionConfiguration/interceptors``, before the configuration's `protocolClasses`. Each
/// followed redirect, and each request that a handler starts in place of another, passes through them again.
///
/// An interceptor that only changes requests or the heads of responses costs less as a ``LoadAdapter``.
public protocol LoadInterceptor: Sendable {
    /// Whether the interceptor handles this request. Called on the session's event loop: it must not block. Default:
    /// true.
    func canIntercept(_ request: URLRequest) -> Bool

    /// Whether ``load(_:)`` never blocks a thread and never computes for long. It then runs on the session's executor,
    /// beside the connections, which saves several thread switches for each load. Default: false.
    var runsOnSessionExecutor: Bool { get }

    /// Loads the request like a handler's ``URLProtocolHandler/load(_:)``, with the same contract. It usually forwards
    /// the request with ``LoadContext/next``, and passes the response to `LoadContext.receive`.
    ///
    /// It may change the request, wait, forward it several times, answer without forwarding it, or throw. An error that
    /// it throws is the task's error. It runs in a task that is cancelled when the load ends.
    func load(_ load: LoadContext) async throws
}

extension LoadInterceptor {
    /// Returns true: every request is intercepted.
    public func canIntercept(_ request: URLRequest) -> Bool { true }

    /// False: the load does not run on the session's executor.
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
