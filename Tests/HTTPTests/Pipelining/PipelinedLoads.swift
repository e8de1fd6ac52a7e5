import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Loads begun in order on a session that pipelines, on one connection unless told otherwise; and what came of each.
final class PipelinedLoads: Sendable {
    let peer: ScriptedPeer
    let session: URLSession
    /// In the order of their ends.
    let ended = Recorder<(path: String, outcome: Outcome)>()

    init(_ peer: ScriptedPeer, connections: Int = 1, isOn: Bool = true) {
        self.peer = peer
        session = Self.session(connections: connections, isOn: isOn)
    }

    init(_ peer: ScriptedPeer, on session: URLSession) {
        self.peer = peer
        self.session = session
    }

    static func session(
        connections: Int = 1, isOn: Bool = true, delegate: (any URLSessionDelegate)? = nil
    ) -> URLSession {
        makeSession(delegate: delegate) {
            $0.httpMaximumConnectionsPerHost = connections
            $0.httpShouldUsePipelining = isOn
        }
    }

    /// The load after which the connection has proven persistent. Its answer's body is `proof`.
    func prove() async {
        let outcome = await session.outcome(peer.request("/proof"))
        #expect(outcome == .ok("proof"))
    }

    /// The same for two connections at once, of which each waits for `both` before it answers.
    func proveTwo(_ both: Signal) async {
        async let first: Void = prove()
        async let second: Void = prove()
        await peer.requestCount(reaches: 2)
        both.fire()
        _ = await (first, second)
    }

    /// Proves the connection, begins loads of `/1`, `/2` and so on, and returns when the peer has got all of their requests.
    func startAhead(_ count: Int) async -> [URLSessionDataTask] {
        await prove()
        let tasks = (1...count).map { start("/\($0)") }
        await peer.requestCount(reaches: 1 + count)
        return tasks
    }

    @discardableResult
    func start(_ path: String, _ configure: (inout URLRequest) -> Void = { _ in }) -> URLSessionDataTask {
        var request = peer.request(path)
        configure(&request)
        let task = session.dataTask(with: request) { [ended] data, response, error in
            let body = String(decoding: data ?? Data(), as: UTF8.self)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            let code = (error as? URLError)?.code
            ended.append((path, code.map { .failed($0) } ?? .loaded(status: status, body: body)))
        }
        task.resume()
        return task
    }

    func outcomes(_ count: Int) async -> [String: Outcome] {
        Dictionary(await ended.count(reaches: count).map { ($0.path, $0.outcome) }) { first, _ in first }
    }

    /// Everything that the program has asked for is done on the session's loop, and what was to be sent is.
    func settle() async {
        for _ in 0..<2 { _ = await session.allTasks }
    }
}

extension ScriptedPeer.Step {
    /// Reads a request, and proves that the connection is kept.
    static let prove: [ScriptedPeer.Step] = [.expectRequest, .respond("proof")]

    /// Reads so many requests before anything is answered.
    static func expectRequests(_ count: Int) -> ScriptedPeer.Step { .repeated(count, [.expectRequest]) }
}
