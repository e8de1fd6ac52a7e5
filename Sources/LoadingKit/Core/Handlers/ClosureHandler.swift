import Foundation

/// A handler whose load is a closure.
final class ClosureHandler: URLProtocolHandler, @unchecked Sendable {  // as its superclass; the closure is Sendable
    private let loadRequest: @Sendable (LoadContext) async throws -> Void

    init(request: URLRequest, load: @escaping @Sendable (LoadContext) async throws -> Void) {
        loadRequest = load
        super.init(request: request, cachedResponse: nil, client: nil)
    }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        loadRequest = { _ in throw LoadFailure(.unsupportedURL, "there is nothing that loads this") }
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    override func load(_ load: LoadContext) async throws { try await loadRequest(load) }
}
