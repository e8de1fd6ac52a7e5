import LoadingKitLoopbackServer
import TestSupport

/// A server for one behaviour, and sessions that load from it.
final class Site: Sendable {
    let server: LoopbackServer
    /// Waited for by the answers that stall.
    let release = Signal()

    init() throws {
        let release = release
        server = try LoopbackServer { request in try Site.answer(request, release) }
    }

    func stop() { server.stop() }

    func url(_ path: String) throws -> URL {
        guard let url = URL(string: server.url(path)) else { throw URLError(.badURL) }
        return url
    }

    func request(_ path: String, _ method: String = "GET", body: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try url(path))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    static func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        return configuration
    }

    /// What a completion handler is given for a request.
    func load(
        _ request: URLRequest, _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) async -> (Data?, HTTPURLResponse?, (any Error)?) {
        let configuration = Self.configuration()
        configure(configuration)
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        return await withCheckedContinuation { continuation in
            session.dataTask(with: request) { data, response, error in
                continuation.resume(returning: (data, response as? HTTPURLResponse, error))
            }.resume()
        }
    }

    /// The status and the body, or the error, that a completion handler is given.
    func outcome(_ path: String, _ configure: (URLSessionConfiguration) -> Void = { _ in }) async throws -> String {
        await outcome(try request(path), configure)
    }

    func outcome(_ request: URLRequest, _ configure: (URLSessionConfiguration) -> Void = { _ in }) async -> String {
        let (data, response, error) = await load(request, configure)
        if let error { return shown(error) }
        return "\(shown(response?.statusCode)) \(shown(data))"
    }

    /// What the server was sent in this field, for each request.
    func sent(_ field: String) -> String {
        server.requests.snapshot.map { shown($0.fields[name: field]) }.joined(separator: ", ")
    }

    /// What a delegate is told of a request's load.
    func events(
        _ request: URLRequest, _ delegate: Notes = Notes(), _ make: (URLSession, URLRequest) -> URLSessionTask
    ) async -> String {
        let session = URLSession(configuration: Self.configuration(), delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        make(session, request).resume()
        return await delegate.untilEnd()
    }

    private static func answer(_ request: ServerRequest, _ release: Signal) throws -> ServerResponse {
        let parts = request.path.split(separator: "/").map(String.init)
        switch parts.first {
        case "hello": return .text("hello")
        case "method": return .text(request.method)
        case "echo": return .bytes(request.body, type: request.fields[.contentType] ?? "text/plain")
        case "status": return .text("status", status: parts.last.flatMap { Int($0) } ?? 200)
        case "redirect":
            return .redirect(to: "/method", status: parts.last.flatMap { Int($0) } ?? 302)
        case "away": return .redirect(to: request.query ?? "/", status: 302)
        case "spaces": return .redirect(to: "/a%20b c?q=a%20b")
        case "dots": return .redirect(to: "http://\(request.fields[.host] ?? "")/x/./../hello")
        case "callback": return .redirect(to: "myapp://callback")
        case "loop": return .redirect(to: "/loop")
        case "gzip": return try .gzip(Array("hello, gzip".utf8))
        case "br":
            return ServerResponse.bytes(
                BrotliEncoder.compress(Array("hello, br".utf8)), type: "text/plain; charset=utf-8"
            )
            .adding("Content-Encoding", "br")
        case "badgzip": return ServerResponse.text("this is not gzip").adding("Content-Encoding", "gzip")
        case "chunked":
            return .stream(.chunked, type: "text/plain") { writer in
                try writer.write("one ")
                try writer.write("two")
            }
        case "close": return .stream(.untilClose, type: "text/plain") { try $0.write("until close") }
        case "length": return .stream(.length(11), type: "text/plain") { try $0.write("of a length") }
        case "short":
            return .stream(.length(1000), type: "text/plain") { writer in
                try writer.write("short")
                throw URLError(.networkConnectionLost)
            }
        case "stall":
            try request.exchange.wait(for: release)
            return .text("late")
        case "half":
            return .stream(.length(10), type: "text/plain") { writer in
                try writer.write("first")
                try writer.wait(for: release)
                try writer.write("after")
            }
        case "reset": try request.exchange.reset()
        case "cookie": return ServerResponse.text("set").adding("Set-Cookie", "name=value; Path=/")
        case "cookies":
            return ServerResponse.text("set").adding("Set-Cookie", "a=1").adding("Set-Cookie", "b=2")
        case "fields": return ServerResponse.text("fields").adding("X-Twice", "1").adding("x-twice", "2")
        case "basic":
            guard request.fields[.authorization] == "Basic dXNlcjpwYXNz" else {
                return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"here\"")
            }
            return .text("welcome")
        case "norealm":
            guard request.fields[.authorization] == nil else { return .text("welcome") }
            return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic")
        case "named":
            return ServerResponse.text("file").adding("Content-Disposition", "attachment; filename=\"report.txt\"")
        default: return .text("not found", status: 404)
        }
    }
}
