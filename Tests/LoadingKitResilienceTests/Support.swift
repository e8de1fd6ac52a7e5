import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitResilience
import Testing

extension URLSession {
    /// A session of its own with these interceptors.
    static func with(_ interceptors: any LoadInterceptor...) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 64
        configuration.interceptors = interceptors
        return URLSession(configuration: configuration)
    }

    func status(_ url: String) async throws -> Int {
        let (_, response) = try await data(from: try #require(URL(string: url)))
        return try #require(response as? HTTPURLResponse).statusCode
    }

    func text(_ url: String) async throws -> String {
        let (data, _) = try await data(from: try #require(URL(string: url)))
        return String(decoding: data, as: UTF8.self)
    }
}

extension LoopbackServer {
    func request(_ path: String = "/", method: String = "GET", fields: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url(path))))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    var origin: RequestOrigin { get throws { try #require(RequestOrigin(url())) } }
}

/// An interceptor that is a closure.
struct ClosureInterceptor: ResilienceInterceptor {
    let body: @Sendable (LoadContext) async throws -> Void

    init(_ body: @escaping @Sendable (LoadContext) async throws -> Void) { self.body = body }

    func load(_ load: LoadContext) async throws { try await body(load) }
}

/// Forwards, and changes nothing.
struct Forwarder: ResilienceInterceptor {
    func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
}

func error<Failure: Error>(
    _ type: Failure.Type, _ body: () async throws -> some Any, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Failure {
    do {
        _ = try await body()
    } catch let error as Failure {
        return error
    }
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    throw CancellationError()
}
