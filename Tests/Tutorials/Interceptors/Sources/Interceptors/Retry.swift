import Foundation
import LoadingKit

/// Tries again what a server was too busy for, or what failed before there was a response.
public struct Retry: LoadInterceptor {
    private let attempts: Int
    private let pause: @Sendable (_ attempt: Int) async throws -> Void

    /// - Parameters:
    ///   - attempts: how many there are at most, the first included.
    ///   - pause: what is between the n-th attempt and the next. Default: n seconds.
    public init(
        attempts: Int = 3,
        pause: @escaping @Sendable (_ attempt: Int) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    ) {
        self.attempts = attempts
        self.pause = pause
    }

    /// Only these methods may be repeated without knowing what they do, and a stream can be read only once.
    public func canIntercept(_ request: URLRequest) -> Bool {
        ["GET", "HEAD"].contains(request.httpMethod ?? "GET") && request.httpBodyStream == nil
    }

    public func load(_ load: LoadContext) async throws {
        for attempt in 1..<max(attempts, 1) {
            if let loaded = try await Self.attempt(load) { return try await load.receive(loaded) }
            try await pause(attempt)
        }
        // Whatever the last attempt gives is the load's result.
        try await load.receive(load.next.load(load.request, redirects: .returned))
    }

    /// Nil where another attempt may do better. A response that is not received ends its own load.
    private static func attempt(_ load: LoadContext) async throws -> LoadedResponse? {
        do {
            let loaded = try await load.next.load(load.request, redirects: .returned)
            return (loaded.response as? HTTPURLResponse)?.statusCode == 503 ? nil : loaded
        } catch let error as URLError where error.code == .networkConnectionLost || error.code == .cannotConnectToHost {
            return nil
        }
    }
}
