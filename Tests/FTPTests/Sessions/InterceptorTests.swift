import Foundation
import LoadingKit
import TestSupport
import Testing

/// Loads of FTP URLs pass through a session's interceptors.
@Suite(.usesPeers) struct InterceptorTests {
    private struct Forwarding: LoadInterceptor {
        var runsOnSessionExecutor: Bool

        func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
    }

    /// Leads all loads to one file, and names itself in the response.
    private struct Leading: LoadAdapter {
        let path: String

        func adapt(_ request: URLRequest) throws -> URLRequest {
            var adapted = request
            adapted.url = request.url.flatMap { URL(string: path, relativeTo: $0)?.absoluteURL }
            return adapted
        }

        func adapt(_ response: URLResponse, to request: URLRequest) throws -> URLResponse {
            (response as? HTTPURLResponse)?.replacingHeaderFields(by: [("X-Led", "yes")]) ?? response
        }
    }

    @Test(arguments: [false, true]) func whatIsForwardedIsLoaded(_ runsOnSessionExecutor: Bool) async throws {
        let run = try await ScenarioRun.start(.pyftpdlib, .none)
        defer { run.server.stop() }
        let session = run.makeSession {
            $0.interceptors = [Forwarding(runsOnSessionExecutor: runsOnSessionExecutor)]
        }
        defer { session.invalidateAndCancel() }
        #expect(try await run.load("/large.bin", in: session) == ScenarioRun.large)
        _ = try await session.upload(for: run.request("/written/i", method: "PUT"), from: Data(ScenarioRun.large))
        #expect(try run.stored("written/i") == ScenarioRun.large)
        #expect(try await run.code { _ = try await run.load("/none", in: session) } == .fileDoesNotExist)
        let (file, _) = try await session.download(for: run.request("/large.bin"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(Array(try Data(contentsOf: file)) == ScenarioRun.large)
    }

    @Test func anAdapterLeadsToAnotherFile() async throws {
        let run = try await ScenarioRun.start(.pyftpdlib, .none)
        defer { run.server.stop() }
        let session = run.makeSession { $0.interceptors = [Leading(path: "/a.txt")] }
        defer { session.invalidateAndCancel() }
        let (data, response) = try await session.data(for: run.request("/none"))
        #expect(Array(data) == ScenarioRun.text)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Led") == "yes")
    }
}
