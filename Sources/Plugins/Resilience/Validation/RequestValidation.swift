import Foundation
import LoadingKit

/// Checks each request before it is sent, and may refuse it.
public struct RequestValidation: ResilienceInterceptor {
    private let check: @Sendable (URLRequest) throws -> Void

    /// - Parameter check: Throws the error with which the load fails.
    public init(_ check: @escaping @Sendable (URLRequest) throws -> Void) { self.check = check }

    /// Forwards the request if the check does not throw.
    public func load(_ load: LoadContext) async throws {
        try check(load.request)
        try await load.forward(load.request)
    }
}
