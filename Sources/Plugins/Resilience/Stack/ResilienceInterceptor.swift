import Foundation
import LoadingKit

/// An interceptor of this module. It handles requests for `http` and `https`, and runs on the session's executor.
///
/// State is in the interceptors' own objects. Sessions share it only where the program gives both the same object, or
/// makes both with one configuration.
public protocol ResilienceInterceptor: LoadInterceptor {}

extension ResilienceInterceptor {
    /// Whether the request's scheme is `http` or `https`.
    public func canIntercept(_ request: URLRequest) -> Bool { request.isHTTP }

    /// True: the interceptors never block.
    public var runsOnSessionExecutor: Bool { true }
}

extension URLRequest {
    var isHTTP: Bool { url?.scheme.map { ["http", "https"].contains($0.lowercased()) } ?? false }
}

extension LoadContext {
    /// Forwards a request, and delivers its response.
    func forward(_ request: URLRequest) async throws { try await receive(next.load(request)) }
}

extension LoadedResponse {
    /// The status of an HTTP response; nil for others.
    var statusCode: Int? { (response as? HTTPURLResponse)?.statusCode }

    /// The value of a field of an HTTP response; nil where there is none.
    func value(forField name: String) -> String? {
        (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name)
    }
}

extension LoadedBody {
    /// Performs `work` while the body is read, so that its connection can be reused. A body of more than `limit` bytes,
    /// and one that has not ended when `work` has, is released instead, which ends its load.
    func discarding<Value: Sendable>(upTo limit: Int, during work: () async throws -> Value) async rethrows -> Value {
        let discarding = Task {
            var (count, body) = (0, makeAsyncIterator())
            while count <= limit, !Task.isCancelled, let piece = try? await body.next() { count += piece.count }
        }
        defer { discarding.cancel() }
        return try await work()
    }
}
