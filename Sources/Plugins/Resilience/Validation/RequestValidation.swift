import LoadingKit

/// Checks each request before it is sent, and may refuse it.
public struct RequestValidation: Interceptor {
    private let check: @Sendable (URLRequest) throws -> Void

    /// - Parameter check: Throws the error with which the load fails.
    public init(_ check: @escaping @Sendable (URLRequest) throws -> Void) { self.check = check }

    /// Forwards the request if the check does not throw.
    public func load(_ request: URLRequest, _ next: NextInterceptors) async throws -> InterceptedResponse {
        try check(request)
        return try await next.load(request)
    }
}
