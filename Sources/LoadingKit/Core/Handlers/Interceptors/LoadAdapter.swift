import Foundation

/// An interceptor that changes requests, and the heads of their responses, synchronously. It does not see bodies.
///
/// ```swift
/// struct Greeting: LoadAdapter {
///     func adapt(_ request: URLRequest) -> URLRequest {
///         var request = request
///         request.setValue("hello", forHTTPHeaderField: "X-Greeting")
///         return request
///     }
/// }
/// configuration.interceptors = [Greeting()]
/// ```
///
/// Its methods are called on the session's event loop, beside the connections, without a Swift task: the cost for a
/// load is negligible, regardless of the number of adapters. They must neither block nor compute for long. An error
/// that they throw is the task's error.
///
/// An adapter is part of ``URLSessionConfiguration/interceptors``, like other interceptors. Its `load(_:)` has the
/// effect of its other methods; the session does not call `load(_:)`.
public protocol LoadAdapter: LoadInterceptor {
    /// Returns the request to load in place of `request`.
    ///
    /// Where its URL differs from the task's URL, it replaces the task's URL: fields that a session sends only to the
    /// origin of a task's own URL, such as `Authorization` in `httpAdditionalHeaders`, are sent to the new URL's
    /// origin.
    func adapt(_ request: URLRequest) throws -> URLRequest

    /// Returns the head that the session gets in place of a response's head; also called for redirects. Default: the
    /// response itself.
    ///
    /// - Parameter request: the request that the adapter was given, before it changed it.
    func adapt(_ response: URLResponse, to request: URLRequest) throws -> URLResponse

    /// Returns the request that follows a redirect. The delegate decides about it, and it then passes through all
    /// interceptors again. Default: `redirection` itself.
    ///
    /// - Parameters:
    ///   - redirection: made by the rules of the scheme (RFC 9110 §15.4). It has the fields that the adapter has set;
    ///     fields that are not for other servers must be removed. Where a server may not redirect to its URL, it may
    ///     not redirect to another URL that the adapter derives from it.
    ///   - request: the request that the adapter was given, before it changed it.
    func adapt(redirection: URLRequest, of request: URLRequest) throws -> URLRequest
}

extension LoadAdapter {
    /// Returns the response unchanged.
    public func adapt(_ response: URLResponse, to request: URLRequest) throws -> URLResponse { response }

    /// Returns the redirect's request unchanged.
    public func adapt(redirection: URLRequest, of request: URLRequest) throws -> URLRequest { redirection }

    /// True: an adapter does not block.
    public var runsOnSessionExecutor: Bool { true }

    /// Forwards the adapted request, and passes the adapted response to the session.
    public func load(_ load: LoadContext) async throws {
        let loaded = try await load.next.load(adapt(load.request), redirects: .returned)
        let target = try loaded.redirection.map { try adapt(redirection: $0, of: load.request) }
        let head = try adapt(loaded.response, to: load.request)
        try await load.receive(loaded, as: head, redirectingTo: target)
    }
}
