import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// A session with a cache of its own, a time of day that the test moves, and a server.
final class CachingSession: Sendable {
    /// The outcome of a load.
    struct Answer: Sendable {
        let body: String
        let response: HTTPURLResponse

        var status: Int { response.statusCode }
        subscript(name: String) -> String? { response.value(forHTTPHeaderField: name) }
    }

    let clock = TestWallClock()
    let server: LoopbackServer
    let session: URLSession
    let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)

    /// - Parameter port: the server's port; 0 for any.
    init(
        delegate: (any URLSessionDelegate)? = nil, port: UInt16 = 0,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }, route: @escaping LoopbackServer.Route
    ) throws {
        server = try LoopbackServer(LoopbackServer.Options(.ipv4(port: port)), route: route)
        let (cache, clock) = (cache, clock)
        session = makeSession(delegate: delegate) {
            $0.urlCache = cache
            $0.settings.wallClock = clock.wallClock
            configure($0)
        }
    }

    func stop() {
        session.invalidateAndCancel()
        server.stop()
    }

    /// How many requests the server received.
    var count: Int { server.requests.count }

    func request(_ path: String = "/", _ fields: [String: String] = [:], method: String = "GET") -> URLRequest {
        var request = URLRequest(url: URL(string: server.url(path)) ?? URL(fileURLWithPath: "/"))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    @discardableResult
    func load(_ request: URLRequest) async throws -> Answer {
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return Answer(body: String(decoding: data, as: UTF8.self), response: response)
    }

    @discardableResult
    func load(
        _ path: String = "/", _ fields: [String: String] = [:], policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async throws -> Answer {
        var request = request(path, fields)
        request.cachePolicy = policy
        return try await load(request)
    }
}

extension ServerResponse {
    /// The response with more field lines.
    func adding(_ fields: [String: String]) -> ServerResponse {
        fields.sorted { $0.key < $1.key }.reduce(self) { $0.adding($1.key, $1.value) }
    }
}

/// A counter that several threads may use.
final class Counter: Sendable {
    private let value = Guarded(0)

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
