import Foundation

/// An interceptor that changes requests, and the heads of their responses, at once: it never waits, and does not see bodies.
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
/// Its methods are called on the session's event loop, beside the connections, without a Swift task: a load costs next to nothing
/// more, however many adapters there are. They must neither block nor compute for long. What they throw is the task's error.
///
/// An adapter stands in ``URLSessionConfiguration/interceptors`` with others, and does what its ``load(_:)`` says, which is made of
/// its other methods; the session does not call that.
public protocol LoadAdapter: LoadInterceptor {
    /// The request that is loaded in place of another.
    ///
    /// Where it has another URL than the one that the task was made for, it takes that one's place: what a session sends to the
    /// origin of a task's own URL alone, such as `Authorization` in `httpAdditionalHeaders`, goes there.
    func adapt(_ request: URLRequest) throws -> URLRequest

    /// The head that the session gets in place of a response's; that of a redirect, too. Default: the response itself.
    ///
    /// - Parameter request: what the adapter was given, before it changed it.
    func adapt(_ response: URLResponse, to request: URLRequest) throws -> URLResponse

    /// The request that a redirect leads to, which the delegate is asked about and which then passes through all interceptors
    /// anew. Default: `redirection` itself.
    ///
    /// - Parameters:
    ///   - redirection: made by the rules of the scheme (RFC 9110 §15.4). It has the fields that the adapter has set; those that
    ///     are not for other servers must be taken out. Where a server may not redirect to its URL, it may not to another that the
    ///     adapter makes of that.
    ///   - request: what the adapter was given, before it changed it.
    func adapt(redirection: URLRequest, of request: URLRequest) throws -> URLRequest
}

extension LoadAdapter {
    /// As it is.
    public func adapt(_ response: URLResponse, to request: URLRequest) throws -> URLResponse { response }

    /// As it is.
    public func adapt(redirection: URLRequest, of request: URLRequest) throws -> URLRequest { redirection }

    /// True: there is nothing that could block.
    public var runsOnSessionExecutor: Bool { true }

    /// Forwards the adapted request, and gives the session the adapted response.
    public func load(_ load: LoadContext) async throws {
        let loaded = try await load.next.load(adapt(load.request), redirects: .returned)
        let target = try loaded.redirection.map { try adapt(redirection: $0, of: load.request) }
        let head = try adapt(loaded.response, to: load.request)
        try await load.receive(loaded, as: head, redirectingTo: target)
    }
}
