import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A load whose delegate does something in one of its methods.
struct ActedLoad: Sendable, CustomTestStringConvertible {
    typealias Make = @Sendable (ActedRun) async throws -> URLSessionTask

    let testDescription: String
    /// What the delegate is told where it does nothing, but for the session's end.
    let calls: [String]
    /// The call that the peer waits for before it sends the rest: what ends the task up to there ends a load that goes on.
    let hold: String
    var isSecure = false
    var disposition = URLSession.ResponseDisposition.allow
    let make: Make

    init(
        _ description: String, _ calls: [String], hold: String, isSecure: Bool = false,
        _ disposition: URLSession.ResponseDisposition = .allow, make: @escaping Make
    ) {
        testDescription = description
        self.calls = calls
        self.hold = hold
        self.isSecure = isSecure
        self.disposition = disposition
        self.make = make
    }

    /// A data task.
    init(
        get path: String, _ calls: [String], hold: String, isSecure: Bool = false,
        _ disposition: URLSession.ResponseDisposition = .allow, _ description: String? = nil
    ) {
        self.init(description ?? path, calls, hold: hold, isSecure: isSecure, disposition) {
            $0.session.dataTask(with: try $0.request(path))
        }
    }

    /// Whether the task's end is decided when the delegate is told so: what the program does in the call, or later, does not
    /// change it.
    func isOver(in call: String) -> Bool {
        switch call {
        case "file", "metrics", "end", "closed", "captured", "invalid": true
        default: false
        }
    }

    static let all: [ActedLoad] = [
        ActedLoad(get: "/late", ["created", "response", "data", "metrics", "end"], hold: "created"),
        ActedLoad(get: "/half", ["created", "response", "data", "metrics", "end"], hold: "data"),
        ActedLoad(
            get: "/half", ["created", "trust", "response", "data", "metrics", "end"], hold: "data", isSecure: true),
        ActedLoad(get: "/fresh", ["created", "response", "data", "cache", "metrics", "end"], hold: "data"),
        ActedLoad(
            get: "/early", ["created", "informational", "response", "data", "metrics", "end"], hold: "informational"),
        ActedLoad(get: "/redirect", ["created", "redirect", "response", "data", "metrics", "end"], hold: "data"),
        ActedLoad(get: "/basic", ["created", "challenge", "response", "data", "metrics", "end"], hold: "data"),
        ActedLoad("a delayed request", ["created", "delayed", "response", "data", "metrics", "end"], hold: "data") {
            let task = $0.session.dataTask(with: try $0.request("/half"))
            task.earliestBeginDate = Date(timeIntervalSinceNow: 0.01)
            return task
        },
        ActedLoad("an upload", ["created", "sent", "response", "data", "metrics", "end"], hold: "sent") {
            $0.session.uploadTask(with: try $0.request("/late", "PUT"), from: Data("body".utf8))
        },
        ActedLoad(
            "an upload of a stream", ["created", "stream", "sent", "response", "data", "metrics", "end"], hold: "sent"
        ) { $0.session.uploadTask(withStreamedRequest: try $0.request("/late", "PUT")) },
        ActedLoad("a download", ["created", "wrote", "file", "metrics", "end"], hold: "wrote") {
            $0.session.downloadTask(with: try $0.request("/half"))
        },
        ActedLoad("a resumed download", ["created", "resumed", "wrote", "file", "metrics", "end"], hold: "wrote") {
            try await $0.resumedDownload()
        },
        ActedLoad(
            get: "/half", ["created", "response", "became", "wrote", "file", "metrics", "end"], hold: "wrote",
            .becomeDownload, "a data task that becomes a download"),
        ActedLoad(
            get: "/half", ["created", "response", "became", "read closed", "metrics", "end"], hold: "became",
            .becomeStream, "a data task that becomes a stream task"),
        ActedLoad("a WebSocket", ["created", "opened", "closed", "metrics", "end"], hold: "opened") { run in
            let task = run.session.webSocketTask(with: try run.request("/socket"))
            run.afterHold { task.cancel(with: .normalClosure, reason: nil) }
            return task
        },
        ActedLoad(
            "a stream task that reads first", ["created", "read closed", "write closed", "metrics", "end"],
            hold: "read closed"
        ) { run in
            let task = try run.streamTask("/bye")
            task.readData(ofMinLength: 10_000, maxLength: 10_000, timeout: 0) { _, _, _ in }
            run.afterHold { task.closeWrite() }
            return task
        },
        ActedLoad(
            "a stream task that writes first", ["created", "write closed", "read closed", "metrics", "end"],
            hold: "write closed"
        ) { run in
            let task = try run.streamTask("/half")
            task.closeWrite()
            task.readData(ofMinLength: 10_000, maxLength: 10_000, timeout: 0) { _, _, _ in }
            return task
        },
        ActedLoad("a stream task that is captured", ["created", "metrics", "captured"], hold: "created") { run in
            let task = try run.streamTask("/half")
            run.afterHold { task.captureStreams() }
            return task
        },
    ]
}

/// What a load works with.
final class ActedRun: Sendable {
    let session: URLSession
    let server: LoopbackServer
    /// The peer sends the rest.
    let release: Signal
    /// Where the session's delegate does not end the load.
    private let afterHold = Signal()

    init(_ session: URLSession, _ server: LoopbackServer, _ release: Signal) {
        (self.session, self.server, self.release) = (session, server, release)
    }

    func request(_ path: String, _ method: String = "GET") throws -> URLRequest {
        let url = path == "/socket" ? "ws" + server.url(path).drop { $0 != ":" } : server.url(path)
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        return request
    }

    /// Does so where the delegate's method that the peer waits for has returned, and the task was not ended in it.
    func afterHold(_ body: @escaping @Sendable () -> Void) {
        Task { [afterHold] in
            await afterHold.wait()
            body()
        }
    }

    func holdIsOver() { afterHold.fire() }

    /// A connection to the server, which is asked for a path.
    func streamTask(_ path: String) throws -> URLSessionStreamTask {
        let url = try #require(URL(string: server.url(path)))
        let task = session.streamTask(withHostName: try #require(url.host), port: try #require(url.port))
        let text = "GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        task.write(Data(text.utf8), timeout: 0) { _ in }
        return task
    }

    /// The rest of what another session has begun.
    func resumedDownload() async throws -> URLSessionTask {
        let other = URLSession(configuration: session.configuration)
        defer { other.invalidateAndCancel() }
        let task = other.downloadTask(with: try request("/file"))
        task.resume()
        while task.countOfBytesReceived < 200_000 { await Task.yield() }
        return session.downloadTask(withResumeData: try #require(await task.cancelByProducingResumeData()))
    }

    /// The server's part. The runs of a test follow each other.
    static func answer(_ request: ServerRequest, _ release: Signal) throws -> ServerResponse {
        switch request.path {
        case "/late":
            try request.exchange.wait(for: release)
            return .text("late")
        case "/redirect": return .redirect(to: "/half")
        case "/basic":
            if request.fields[.authorization] == "Basic dXNlcjpwYXNz" { return half(release) }
            return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        case "/fresh": return half(release).adding("Cache-Control", "max-age=1000")
        case "/early":
            var response = half(release)
            response.interim = [ServerResponse.Interim(103)]
            return response
        case "/half": return half(release)
        case "/file": return file(request, release)
        case "/socket": return .webSocket(request) { try $0.echo() }
        case "/bye": return .text("bye").closing()
        default: return .text("hello")
        }
    }

    private static func half(_ release: Signal) -> ServerResponse {
        .stream(.length(10)) { writer in
            try writer.write("first")
            try writer.wait(for: release)
            try writer.write("after")
        }
    }

    private static func file(_ request: ServerRequest, _ release: Signal) -> ServerResponse {
        let size = 500_000
        guard let start = request.fields[.range].flatMap({ Int($0.dropFirst("bytes=".count).dropLast()) }) else {
            let first = ServerResponse.stream(.length(UInt64(size))) { writer in
                try writer.write([UInt8](repeating: 120, count: 200_000))
                try writer.waitUntilClientCloses()
            }
            return first.adding("ETag", "\"one\"")
        }
        var rest = ServerResponse.stream(.length(UInt64(size - start))) { writer in
            try writer.write([120])
            try writer.wait(for: release)
            try writer.write([UInt8](repeating: 120, count: size - start - 1))
        }
        rest.status = 206
        return rest.adding("ETag", "\"one\"").adding("Content-Range", "bytes \(start)-\(size - 1)/\(size)")
    }
}
