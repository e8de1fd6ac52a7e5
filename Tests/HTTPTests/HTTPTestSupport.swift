import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// Makes a session for a test. Sessions made here are invalidated by the test's end, as nothing holds them.
func makeSession(
    delegate: (any URLSessionDelegate)? = nil, on loop: EventLoop = .next(),
    _ configure: (URLSessionConfiguration) -> Void = { _ in }
) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    // A test has a limit of its own.
    configuration.timeoutIntervalForRequest = 1000
    // Not what the environment says.
    configuration.connectionProxyDictionary = [:]
    configure(configuration)
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil, loop: loop)
}

extension EventLoop {
    /// One whose time stands still, so that no wait is over too early on a machine that is busy. Who makes it stops it.
    static func still() -> EventLoop { EventLoop(name: "still", time: .manual(ManualTime())) }

    /// Has the system not say which bytes a peer's system has acknowledged, which counts as if it had all: by its own
    /// clock it takes a while.
    func acknowledgeAtOnce() { attach(FaultPlan(.ioctl, .from(1), .fail(EINVAL))) }
}

extension ScriptedPeer {
    func request(_ path: String = "/", method: String = "GET") -> URLRequest {
        var request = URLRequest(url: URL(string: url(path)) ?? URL(fileURLWithPath: "/"))
        request.httpMethod = method
        return request
    }
}

/// The result of a load: comparable, and readable in a failed test's output.
enum Outcome: Equatable, Sendable {
    case loaded(status: Int, body: String)
    case failed(URLError.Code)

    static func ok(_ body: String) -> Outcome { .loaded(status: 200, body: body) }
}

extension URLSession {
    /// Loads a request, and says what came of it.
    func outcome(_ request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async -> Outcome {
        do {
            let (data, response) = try await data(for: request, delegate: delegate)
            return .loaded(
                status: (response as? HTTPURLResponse)?.statusCode ?? 0, body: String(decoding: data, as: UTF8.self))
        } catch let error as URLError {
            return .failed(error.code)
        } catch {
            return .failed(.unknown)
        }
    }

    /// Returns when a count stays as it is while the session loads much from another server: its loop looks at each of its
    /// connections many times then.
    func settles(beside bystander: LoopbackServer, _ count: @Sendable () -> Int) async throws {
        let request = try BothVersions.request(bystander, "/")
        var (last, same) = (-1, 0)
        while same < 100 {
            let (_, response) = try await data(for: request)
            try #require((response as? HTTPURLResponse)?.statusCode == 200)
            let now = count()
            same = now == last ? same + 1 : 0
            last = now
        }
    }
}
