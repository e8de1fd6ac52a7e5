import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The events of a task, and the calls of its delegate in order.
struct OrderScenario: Sendable, CustomTestStringConvertible {
    typealias Run = @Sendable (OrderRun) async throws -> Void

    let testDescription: String
    /// Of the delegate's calls, after "created" and before "invalid", which are the same for all.
    let expected: [String]
    let versions: [String]
    /// Whether time passes. Else it stands still: on a machine that is busy, the time to wait for a server's word could be
    /// over before it comes.
    let isTimed: Bool
    let answers: OrderRecorder.Answers
    let configure: @Sendable (URLSessionConfiguration) -> Void
    /// Makes the task, resumes it, and does to it what the scenario is about.
    let run: Run

    init(
        _ description: String, _ expected: [String], versions: [String] = BothVersions.all, isTimed: Bool = true,
        _ change: (inout OrderRecorder.Answers) -> Void = { _ in },
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }, run: @escaping Run
    ) {
        testDescription = description
        self.expected = expected
        self.versions = versions
        self.isTimed = isTimed
        var answers = OrderRecorder.Answers()
        change(&answers)
        self.answers = answers
        self.configure = configure
        self.run = run
    }

    /// A data task that is resumed, and nothing else.
    init(
        _ description: String, get path: String, _ expected: [String], versions: [String] = BothVersions.all,
        _ change: (inout OrderRecorder.Answers) -> Void = { _ in },
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }
    ) {
        self.init(description, expected, versions: versions, change, configure: configure) {
            $0.session.dataTask(with: try $0.request(path)).resume()
        }
    }
}

/// The objects of a scenario.
struct OrderRun: Sendable {
    let session: URLSession
    let server: LoopbackServer
    let recorder: OrderRecorder
    let release: Signal

    func request(_ path: String, _ method: String = "GET", body: String? = nil) throws -> URLRequest {
        try BothVersions.request(server, path, method, body: body.map { Data($0.utf8) })
    }
}

/// The server of the scenarios.
enum OrderServer {
    static let credential = URLCredential(user: "user", password: "pass", persistence: .none)
    static let resource = [UInt8](repeating: 120, count: 500_000)

    static func answer(_ request: ServerRequest, _ release: Signal) throws -> ServerResponse {
        switch request.path {
        case "/empty": return ServerResponse(204)
        case "/redirect": return .redirect(to: "/hello")
        case "/again": return .redirect(to: "/hello", status: 307)
        case "/loop": return .redirect(to: "/loop")
        case "/basic":
            if request.fields[.authorization] == "Basic dXNlcjpwYXNz" { return .text("welcome") }
            return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        case "/fresh": return ServerResponse.text("fresh").adding("Cache-Control", "max-age=1000")
        case "/early":
            var response = ServerResponse.text("done")
            response.interim = [ServerResponse.Interim(103)]
            return response
        case "/stall":
            try request.exchange.wait(for: release)
            return .text("late")
        case "/half", "/broken":
            let breaks = request.path == "/broken"
            return .stream(.length(10)) { writer in
                try writer.write("first")
                try writer.wait(for: release)
                if breaks { throw CancellationError() }
                try writer.write("after")
            }
        case "/switch":
            let response = ServerResponse(101, body: .tunnel { try $0.write(try $0.read()) })
            return response.adding("Upgrade", "echo").adding("Connection", "upgrade")
        case "/file": return partial(request, release)
        default: return .text("hello")
        }
    }

    /// Half of a resource, and after a break the rest.
    private static func partial(_ request: ServerRequest, _ release: Signal) -> ServerResponse {
        let start = request.fields[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        let rest = Array(resource[(start ?? 0)...])
        var response = ServerResponse.stream(.length(UInt64(rest.count))) { writer in
            if start != nil { return try writer.write(rest) }
            try writer.write(Array(rest.prefix(200_000)))
            try writer.waitUntilClientCloses()
        }
        response = response.adding("ETag", "\"one\"")
        guard let start else { return response }
        response.status = 206
        return response.adding("Content-Range", "bytes \(start)-\(resource.count - 1)/\(resource.count)")
    }
}
