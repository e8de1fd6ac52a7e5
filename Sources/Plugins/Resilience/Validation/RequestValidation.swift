import LoadingKit

/// Looks at each request before it goes out, and may refuse it.
public struct RequestValidation: Interceptor {
    private let check: @Sendable (URLRequest) throws -> Void

    /// - Parameter check: Throws what the load is to fail with.
    public init(_ check: @escaping @Sendable (URLRequest) throws -> Void) { self.check = check }

    /// Forwards the request if the check does not throw.
    public func load(_ request: URLRequest, _ next: NextInterceptors) async throws -> InterceptedResponse {
        try check(request)
        return try await next.load(request)
    }
}
