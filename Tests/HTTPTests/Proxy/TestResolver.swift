import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport

/// A resolver that answers as the test says, and records what it is asked.
final class TestResolver: ProxyResolver {
    let queries = Recorder<ProxyQuery>()
    private let answer: @Sendable (ProxyQuery) async throws -> [ProxyChoice]

    init(_ answer: @escaping @Sendable (ProxyQuery) async throws -> [ProxyChoice]) { self.answer = answer }

    convenience init(_ choices: [ProxyChoice]) { self.init { _ in choices } }

    /// Waits until the question is cancelled, and fires the signal then.
    static func waitForCancellation(_ cancelled: Signal) async {
        await withTaskCancellationHandler {
            await cancelled.wait()
        } onCancel: {
            cancelled.fire()
        }
    }

    func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] {
        queries.append(query)
        return try await answer(query)
    }
}

extension ProxyChoice {
    /// A scripted peer as a proxy.
    init(_ kind: Kind = .http, to peer: ScriptedPeer, user: String? = nil) {
        self.init(
            kind, host: "127.0.0.1", port: peer.address.port ?? 0, user: user, password: user.map { _ in "secret" })
    }

    /// A proxy that is not there.
    static func gone(_ kind: Kind = .http, user: String? = nil) throws -> ProxyChoice {
        ProxyChoice(
            kind, host: "127.0.0.1", port: try RefusingPort.keepOne(), user: user, password: user.map { _ in "secret" })
    }
}

extension URLSessionConfiguration {
    func resolve(by resolver: any ProxyResolver) {
        connectionProxyDictionary = nil
        proxyResolver = resolver
        appTransportSecurity.allowsArbitraryLoads = true
    }
}

func makeRequest(_ url: String, method: String = "GET") throws -> URLRequest {
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = method
    return request
}

extension URLSession {
    func outcome(of url: String, timeout: TimeInterval? = nil) async -> Outcome {
        guard var request = try? makeRequest(url) else { return .failed(.badURL) }
        if let timeout { request.timeoutInterval = timeout }
        return await outcome(request)
    }
}

/// The error of a load that is to fail.
func failure(_ session: URLSession, _ url: String) async -> URLError? {
    do {
        _ = try await session.data(for: makeRequest(url))
        return nil
    } catch {
        return error as? URLError
    }
}
