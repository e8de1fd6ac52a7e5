import Foundation
import LoadingKit
import Synchronization

/// Stands behind all interceptors that are checked: sees the requests that they pass on, and can answer in place of the
/// handlers.
struct LoadProbe: LoadInterceptor {
    let answer: @Sendable (LoadContext) async throws -> Void

    func load(_ load: LoadContext) async throws { try await answer(load) }
}

/// Runs a class that is an interceptor among the session's interceptors.
struct ClassInterceptor: LoadInterceptor {
    let type: URLProtocolHandler.Type

    func canIntercept(_ request: URLRequest) -> Bool { type.canInit(with: request) }

    func load(_ load: LoadContext) async throws {
        let handler = type.init(request: load.request, cachedResponse: nil, client: nil)
        handler.task = load.task
        try await handler.load(load)
    }
}

/// The number of bytes that were taken from a source.
final class ByteCount: Sendable {
    private let count = Mutex(0)

    func add(_ bytes: Int) { count.withLock { $0 += bytes } }

    var value: Int { count.withLock { $0 } }
}
