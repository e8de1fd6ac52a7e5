import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport
import Testing

/// A handler or an interceptor that breaks a rule in one way.
struct Breach: Sendable, CustomTestStringConvertible {
    let name: String
    /// The rule under which the checks have to find it.
    let rule: Int
    /// A part of what the finding has to say.
    let words: String
    var conformance: HandlerConformance
    /// Whether the defect shows only where a check meets a moment, which on a busy machine it may miss.
    var isRace = false

    var testDescription: String { "\(rule): \(name)" }

    init(
        _ name: String, _ rule: Int, _ words: String, _ samples: [ConformanceSample] = [.resource(.a)],
        _ configure: @escaping @Sendable (URLSessionConfiguration) -> Void
    ) {
        self.init(name, rule, words, HandlerConformance(samples, configure: configure))
    }

    init(_ name: String, _ rule: Int, _ words: String, _ conformance: HandlerConformance) {
        (self.name, self.rule, self.words, self.conformance) = (name, rule, words, conformance)
        self.conformance.loadsAtOnce = 10
    }

    /// A function for `register(scheme:loading:)`.
    static func load(
        _ name: String, _ rule: Int, _ words: String, _ samples: [ConformanceSample] = [.resource(.a)],
        _ body: @escaping @Sendable (LoadContext) async throws -> Void
    ) -> Breach {
        Breach(name, rule, words, samples) { $0.register(scheme: "t", loading: body) }
    }

    /// An interceptor in front of a handler that keeps the contract.
    static func interceptor(
        _ name: String, _ rule: Int, _ words: String, on samples: [ConformanceSample] = [.resource(.a)],
        _ interceptors: any LoadInterceptor...
    ) -> Breach {
        Breach(name, rule, words, samples) { configuration in
            configuration.register(scheme: "t") { try await Right.load($0) }
            configuration.interceptors = interceptors
        }
    }

    /// A handler of Apple's shape.
    static func client(
        _ name: String, _ rule: Int, _ words: String, _ samples: [ConformanceSample] = [.resource(.a)],
        stop: @escaping @Sendable (ClientHandler) -> Void = { _ in },
        _ start: @escaping @Sendable (ClientHandler) -> Void
    ) -> Breach {
        Breach(name, rule, words, samples) { $0.register(scheme: "t") { ClientHandler($0, start, stop) } }
    }

    /// The defect may be found at a later attempt.
    func racing() -> Breach {
        var breach = self
        breach.isRace = true
        return breach
    }

    /// The time after which the checks give up waiting, where they have to.
    func limited(to seconds: TimeInterval) -> Breach { with { $0.timeLimit = seconds } }

    func with(_ change: (inout HandlerConformance) -> Void) -> Breach {
        var breach = self
        change(&breach.conformance)
        return breach
    }
}

/// A handler of Apple's shape that runs functions.
final class ClientHandler: URLProtocolHandler, @unchecked Sendable {  // what tests change is theirs to guard
    private let start: @Sendable (ClientHandler) -> Void
    private let stop: @Sendable (ClientHandler) -> Void
    /// What a test has the handler hold.
    let held = Box<[any Sendable]>([])

    init(
        _ request: URLRequest, _ start: @escaping @Sendable (ClientHandler) -> Void,
        _ stop: @escaping @Sendable (ClientHandler) -> Void = { _ in }
    ) {
        (self.start, self.stop) = (start, stop)
        super.init(request: request, cachedResponse: nil, client: nil)
    }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        (start, stop) = ({ _ in }, { _ in })
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    override func startLoading() { start(self) }
    override func stopLoading() { stop(self) }

    func respond() {
        let url = request.url ?? .a
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    func give(_ data: Data = Right.whole) { client?.urlProtocol(self, didLoad: data) }
    func finish() { client?.urlProtocolDidFinishLoading(self) }
}

extension URL {
    static let a = URL(string: "t://host/a") ?? URL(fileURLWithPath: "/")
    static let b = URL(string: "t://host/b") ?? URL(fileURLWithPath: "/")
    /// What one of them begins to receive is not sent to its end while it is suspended.
    static let large = URL(string: "t://host/large") ?? URL(fileURLWithPath: "/")
    static let otherLarge = URL(string: "t://host/large/b") ?? URL(fileURLWithPath: "/")
}

/// What the rows of the tables are made of: each does as the contract says.
enum Right {
    static let whole = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    static let other = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 1000) })
    static let large = Data(repeating: 1, count: 400_000)
    static let otherLarge = Data(repeating: 2, count: 400_000)

    static func body(of url: URL) -> Data {
        switch url {
        case .b: other
        case .large: large
        case .otherLarge: otherLarge
        default: whole
        }
    }

    static func response(
        _ load: LoadContext, _ status: Int = 200, _ fields: [String: String] = [:]
    ) throws -> URLResponse {
        try #require(HTTPURLResponse(url: load.url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    static func respond(_ load: LoadContext, _ status: Int = 200, _ fields: [String: String] = [:]) async throws {
        try await load.receive(try response(load, status, fields))
    }

    static func give(_ data: Data, to load: LoadContext) async throws {
        for start in stride(from: 0, to: data.count, by: 50_000) {
            try await load.receive(data.dropFirst(start).prefix(50_000))
        }
    }

    static func load(_ load: LoadContext) async throws {
        guard load.url.host != "elsewhere.invalid" else { return try await respond(load, 204) }
        if load.request.httpMethod == "POST" {
            var count = 0
            for try await piece in load.body {
                load.report(progress: piece.count)
                count += piece.count
            }
            try await respond(load, 201)
            return try await load.receive(Data("\(count)".utf8))
        }
        try await respond(load)
        try await give(body(of: load.url), to: load)
    }

    /// Goes on for longer than any check waits, and is not cancelled.
    static func goOn() async { await Task.detached { try? await Task.sleep(for: .seconds(300)) }.value }

    static func upload(_ url: URL = .a) -> ConformanceSample {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        return .upload(request)
    }

    static let credential = URLCredential(user: "user", password: "password", persistence: .none)

    static func challenge(_ load: LoadContext, after failures: Int = 0) async
        -> (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?)
    {
        let space = URLProtectionSpace(host: "host", port: 1, protocol: "t", realm: nil, authenticationMethod: nil)
        return await load.challenge(for: space, previousFailureCount: failures)
    }
}
