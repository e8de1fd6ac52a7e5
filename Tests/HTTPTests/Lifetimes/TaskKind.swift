import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A kind of task, with all that a program can give it. What makes it gives away what it has, but for the task.
struct TaskKind: Sendable, CustomTestStringConvertible {
    enum End: CaseIterable {
        case success, failure, cancelled, neverResumed
    }

    let testDescription: String
    var method = "GET"
    var path = "/"
    var ends = End.allCases
    var versions = BothVersions.all
    var needsDelegate = false
    /// Gives the task, where the delegate is not told of it.
    let make: @Sendable (TaskMaking) -> URLSessionTask?

    static let all = data + uploads + downloads + connections + custom

    private static let data = [
        TaskKind(testDescription: "data, with a handler") { making in
            making.session.dataTask(with: making.request, completionHandler: making.handler())
        },
        TaskKind(testDescription: "data, with a handler that holds the task") { making in
            let box = Box<URLSessionTask?>(nil)
            let handler: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = making.handler()
            let task = making.session.dataTask(with: making.request) {
                withExtendedLifetime(box) {}
                handler($0, $1, $2)
            }
            box.value = task
            return task
        },
        TaskKind(testDescription: "data, with the session's delegate", needsDelegate: true) {
            $0.session.dataTask(with: $0.request)
        },
        TaskKind(testDescription: "data, with a delegate of its own") { making in
            let task = making.session.dataTask(with: making.request)
            task.delegate = making.delegate()
            return task
        },
        TaskKind(testDescription: "data, awaited", ends: [.success, .failure, .cancelled]) { making in
            let own = making.delegate()
            Task { _ = try? await making.session.data(for: making.request, delegate: own) }
            return nil
        },
        TaskKind(testDescription: "bytes", ends: [.success, .failure, .cancelled]) { making in
            let own = making.delegate()
            Task {
                let bytes = try await making.session.bytes(for: making.request, delegate: own).0
                for try await _ in bytes.chunks {}
            }
            return nil
        },
    ]

    private static let uploads = [
        TaskKind(testDescription: "an upload of data", method: "POST") { making in
            making.session.uploadTask(
                with: making.request, from: making.watch.data("the body"), completionHandler: making.handler())
        },
        TaskKind(testDescription: "an upload of data, awaited", method: "POST", ends: [.success, .failure, .cancelled])
        {
            making in
            let own = making.delegate()
            let body = making.watch.data("the body")
            Task { _ = try? await making.session.upload(for: making.request, from: body, delegate: own) }
            return nil
        },
        TaskKind(testDescription: "an upload of a file", method: "POST") { making in
            making.session.uploadTask(
                with: making.request, fromFile: URL(fileURLWithPath: #filePath), completionHandler: making.handler())
        },
        TaskKind(testDescription: "an upload of a stream", method: "POST") { making in
            let task = making.session.uploadTask(withStreamedRequest: making.request)
            let watch = making.watch
            task.delegate = making.delegate { WatchedStream(watch.object("the stream")) }
            return task
        },
    ]

    private static let downloads = [
        TaskKind(testDescription: "a download, with a handler") { making in
            let held = making.watch.object("the handler")
            return making.session.downloadTask(with: making.request) { _, _, _ in withExtendedLifetime(held) {} }
        },
        TaskKind(testDescription: "a download, with the session's delegate", needsDelegate: true) {
            $0.session.downloadTask(with: $0.request)
        },
        TaskKind(testDescription: "a download, with a delegate of its own") { making in
            let task = making.session.downloadTask(with: making.request)
            task.delegate = making.delegate()
            return task
        },
    ]

    private static let connections = [
        TaskKind(
            testDescription: "a WebSocket", path: "/socket", ends: [.failure, .cancelled, .neverResumed],
            versions: ["http/1.1"]
        ) { making in
            let task = making.session.webSocketTask(with: making.request)
            task.delegate = making.delegate()
            let (received, sent, pong) = (
                making.watch.object("who receives"), making.watch.object("who sends"), making.watch.object("who pings")
            )
            task.receive { _ in withExtendedLifetime(received) {} }
            task.send(.string("hello")) { _ in withExtendedLifetime(sent) {} }
            task.sendPing { _ in withExtendedLifetime(pong) {} }
            return task
        },
        TaskKind(
            testDescription: "a stream task", ends: [.success, .cancelled, .neverResumed], versions: ["http/1.1"]
        ) { making in
            let (host, port) = (making.request.url?.host ?? "", making.request.url?.port ?? 0)
            let task = making.session.streamTask(withHostName: host, port: port)
            task.delegate = making.delegate()
            let (reader, writer) = (making.watch.object("who reads"), making.watch.object("who writes"))
            task.startSecureConnection()
            let head = "GET \(making.request.url?.path ?? "/") HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            task.write(Data(head.utf8), timeout: 0) { _ in withExtendedLifetime(writer) {} }
            task.readData(ofMinLength: 1_000_000, maxLength: 1_000_000, timeout: 0) { _, _, _ in
                withExtendedLifetime(reader) {}
            }
            task.closeWrite()
            task.closeRead()
            return task
        },
    ]

    /// A scheme of the program's own, by each of a handler's two shapes.
    private static let custom = ["classic", "loading"].map { scheme in
        TaskKind(testDescription: "a custom scheme, \(scheme)", versions: ["http/1.1"]) { making in
            var request = making.request
            request.url = URL(string: "\(scheme)://host")
            return making.session.dataTask(with: request, completionHandler: making.handler())
        }
    }
}

/// The ways to make a task.
struct TaskMaking: Sendable {
    let session: URLSession
    let request: URLRequest
    let watch: Watch
    let tasks: Recorder<URLSessionTask>

    func handler() -> @Sendable (Data?, URLResponse?, (any Error)?) -> Void {
        let held = watch.object("the handler")
        return { _, _, _ in withExtendedLifetime(held) {} }
    }

    func delegate(bodies: @escaping @Sendable () -> InputStream? = { nil }) -> WatchedDelegate {
        WatchedDelegate(watch.object("the task's delegate"), tasks, bodies: bodies)
    }
}

/// The server, or the program's own handler, that a task waits for.
final class Gate: Sendable {
    let begun = Signal()
    let release = Signal()
    let fails: Bool

    init(fails: Bool) { self.fails = fails }

    func route(_ request: ServerRequest) -> ServerResponse {
        begun.fire()
        if request.path == "/socket" {
            return .webSocket(request) { socket in
                _ = try socket.receive()
                try request.exchange.wait(for: self.release)
                throw CancellationError()
            }
        }
        return .stream(.length(10)) { writer in
            try writer.write("first")
            try writer.wait(for: self.release)
            if self.fails { throw CancellationError() }
            try writer.write("after")
        }
    }

    func pass() async throws {
        begun.fire()
        await release.wait()
        if fails { throw URLError(.cannotParseResponse) }
    }
}

/// A handler that overrides `load(_:)`.
final class LoadingHandler: URLProtocolHandler, @unchecked Sendable {  // constants
    private let watched: Watch.Watched
    private let gate: Gate

    init(_ request: URLRequest, _ gate: Gate, _ watched: Watch.Watched) {
        (self.gate, self.watched) = (gate, watched)
        super.init(request: request, cachedResponse: nil, client: nil)
    }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        preconditionFailure("made by a factory")
    }

    override func load(_ load: LoadContext) async throws {
        try await load.receive(
            URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
        try await gate.pass()
    }
}

/// A handler that overrides `startLoading()`.
final class ClassicHandler: URLProtocolHandler, @unchecked Sendable {  // constants
    private let watched: Watch.Watched
    private let gate: Gate
    private let work = Box<Task<Void, Never>?>(nil)

    init(_ request: URLRequest, _ gate: Gate, _ watched: Watch.Watched) {
        (self.gate, self.watched) = (gate, watched)
        super.init(request: request, cachedResponse: nil, client: nil)
    }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        preconditionFailure("made by a factory")
    }

    override func startLoading() {
        work.value = Task {
            do {
                try await gate.pass()
                client?.urlProtocolDidFinishLoading(self)
            } catch {
                client?.urlProtocol(self, didFailWithError: error)
            }
        }
    }

    override func stopLoading() { work.value?.cancel() }
}
