import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import LoadingKitWebSocket
import TestSupport
import Testing

typealias Message = URLSessionWebSocketTask.Message

/// Support for tests of WebSocket tasks that run over HTTP/1.1 and HTTP/2.
enum WebSocketServing {
    static let versions = BothVersions.all

    /// Calls `body` with a task that is not yet resumed, and a server that supports this version alone.
    static func withTask(
        _ version: String, compresses: Bool = false, delegate: WebSocketRecorder = WebSocketRecorder(),
        on loop: EventLoop = .next(), _ server: @escaping @Sendable (ServerWebSocket) throws -> Void,
        body: @escaping @Sendable (URLSessionWebSocketTask, WebSocketRecorder, LoopbackServer) async throws -> Void
    ) async throws {
        try await withSession(
            version, { .webSocket($0, compresses: compresses, server) }, delegate: delegate, on: loop
        ) { session, server in
            try await body(session.webSocketTask(with: try url(server)), delegate, server)
        }
    }

    /// Calls `body` with a session. The route may be any but `/first`, which the session loads to have an HTTP/2
    /// connection.
    static func withSession(
        _ version: String, _ route: @escaping LoopbackServer.Route, delegate: (any URLSessionDelegate)? = nil,
        on loop: EventLoop = .next(), _ configure: (URLSessionConfiguration) -> Void = { _ in },
        body: @escaping @Sendable (URLSession, LoopbackServer) async throws -> Void
    ) async throws {
        try await BothVersions.withServer(
            version, { $0.path == "/first" ? .text("first") : try route($0) }, delegate: delegate, on: loop, configure
        ) { session, server in
            if version == "h2" { _ = try await session.data(for: BothVersions.request(server, "/first")) }
            try await body(session, server)
        }
    }

    static func url(_ server: LoopbackServer, _ path: String = "/", scheme: String? = nil) throws -> URL {
        let url = server.url(path, host: "localhost")
        let secure = server.usesTLS ? "wss" : "ws"
        return try #require(URL(string: (scheme ?? secure) + url.drop { $0 != ":" }))
    }
}

/// Records the calls to a delegate of WebSocket tasks. It does not decide about connections, so that tasks with such
/// delegates share a session's.
final class WebSocketRecorder: NSObject, URLSessionWebSocketDelegate {
    let events = Recorder<String>()
    let ended = Signal()

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        events.append("open \(`protocol` ?? "-")")
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        events.append("close \(closeCode.rawValue) \(reason.map { String(decoding: $0, as: UTF8.self) } ?? "-")")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        guard task is URLSessionWebSocketTask else { return }
        let versions = metrics.transactionMetrics.map { $0.networkProtocolName ?? "-" }
        events.append("metrics \(versions.joined(separator: " "))")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard task is URLSessionWebSocketTask else { return }
        events.append("end \((error as? URLError).map { "\($0.code.rawValue)" } ?? "-")")
        ended.fire()
    }

    /// All calls, once the task has ended.
    func whole() async -> [String] {
        await ended.wait()
        return events.snapshot
    }
}

extension URLSessionWebSocketTask {
    /// The next message, as comparable text.
    func text() async throws -> String {
        switch try await receive() {
        case .string(let text): text
        case .data(let data): "data \(data.count)"
        }
    }

    /// The code of the error that an operation fails with; nil when it succeeds.
    static func code(of body: () async throws -> Void) async -> URLError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? URLError)?.code ?? .unknown
        }
    }
}

/// Expects the next message to be this text.
func expect(
    _ task: URLSessionWebSocketTask, _ text: String, _ location: SourceLocation = #_sourceLocation
) async throws {
    let received = try await task.text()
    #expect(received == text, sourceLocation: location)
}

/// Expects an operation to fail with an error of this code.
func expectFailure(
    _ expected: URLError.Code, _ location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
    let code = await URLSessionWebSocketTask.code(of: body)
    #expect(code == expected, sourceLocation: location)
}

/// Expects an operation to fail as those of a WebSocket that was closed in order.
func expectNotConnected(_ location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void) async {
    let error = await #expect(throws: POSIXError.self, sourceLocation: location) { try await body() }
    #expect(error?.code == .ENOTCONN, sourceLocation: location)
}
