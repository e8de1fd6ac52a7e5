import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport
import Testing

/// A handler or an interceptor that keeps the contract.
struct RightLoad: Sendable, CustomTestStringConvertible {
    let name: String
    var conformance: HandlerConformance

    var testDescription: String { name }

    init(
        _ name: String, _ samples: [ConformanceSample] = [.resource(.a)],
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void
    ) {
        self.name = name
        conformance = HandlerConformance(samples, configure: configure)
        conformance.loadsAtOnce = 20
    }

    init(
        _ name: String, _ samples: [ConformanceSample] = [.resource(.a)],
        _ body: @escaping @Sendable (LoadContext) async throws -> Void
    ) {
        self.init(name, samples) { $0.register(scheme: "t", loading: body) }
    }

    init(_ name: String, _ samples: [ConformanceSample] = [.resource(.a)], through interceptors: any LoadInterceptor...)
    {
        self.init(name, samples) { configuration in
            configuration.register(scheme: "t") { load in
                if load.url.path == "/redirect" {
                    try await load.redirect(to: URLRequest(url: .a), response: Right.response(load, 302))
                }
                if load.url.path == "/failure" { throw CocoaError(.fileReadCorruptFile) }
                try await Right.load(load)
            }
            configuration.interceptors = interceptors
        }
    }

    private static let redirect = URL(string: "t://host/redirect") ?? .a
    private static let failure = URL(string: "t://host/failure") ?? .a
    private static let all: [ConformanceSample] = [
        .resource(.a), .redirect(redirect), Right.upload(),
        .failure(failure, expecting: CocoaError(.fileReadCorruptFile)),
    ]

    static let handlers: [RightLoad] = [
        RightLoad("slow") { load in
            try await Right.respond(load)
            for start in stride(from: 0, to: Right.whole.count, by: 20_000) {
                try await Task.sleep(for: .milliseconds(1))
                try await load.receive(Right.whole.dropFirst(start).prefix(20_000))
            }
        },
        RightLoad("in small pieces") { load in
            try await Right.respond(load)
            for start in stride(from: 0, to: Right.whole.count, by: 200) {
                try await load.receive(Right.whole.dropFirst(start).prefix(200))
            }
        },
        RightLoad("large", [.resource(.large), .resource(.otherLarge)], Right.load),
        RightLoad("a length, and one piece") { load in
            try await Right.respond(load, 200, ["Content-Length": "\(Right.whole.count)"])
            try await load.receive(Right.whole)
        },
        RightLoad("empty") { try await Right.respond($0, 204) },
        RightLoad("a status of failure") { load in
            try await Right.respond(load, 500)
            try await load.receive(Right.whole)
        },
        RightLoad("a plain response") { load in
            try await load.receive(
                URLResponse(url: load.url, mimeType: "text/plain", expectedContentLength: 5, textEncodingName: "utf-8"))
            try await load.receive(Data("hello".utf8))
        },
        RightLoad("parts with a tag", [.ranged(.a), .resource(.a)], RangedResource().load),
        RightLoad("parts with a date", [.ranged(.a)], RangedResource(usesDates: true).load),
        RightLoad("parts of a large resource", [.ranged(.large)], RangedResource().load),
        RightLoad("redirects", [.redirect(.a)]) { load in
            if load.url == .b { return try await Right.load(load) }
            try await load.redirect(to: URLRequest(url: .b), response: Right.response(load, 302))
        },
        RightLoad("challenges", [.challenge(.a, credential: Right.credential)]) { load in
            let answer = await Right.challenge(load)
            switch answer.disposition {
            case .useCredential where answer.credential?.password == "password": try await Right.load(load)
            case .cancelAuthenticationChallenge: throw URLError(.userCancelledAuthentication)
            default: try await Right.respond(load, 401)
            }
        },
        RightLoad("fails before the response", [.failure(.a, expecting: CocoaError(.fileReadCorruptFile))]) { _ in
            throw CocoaError(.fileReadCorruptFile)
        },
        RightLoad("fails in the body", [.failure(.a, expecting: URLError(.networkConnectionLost))]) { load in
            try await Right.respond(load)
            try await load.receive(Right.whole.prefix(1000))
            throw URLError(.networkConnectionLost)
        },
        RightLoad("receives uploads", [Right.upload()], Right.load),
        RightLoad("a stream of another task") { load in
            let (pieces, more) = AsyncStream.makeStream(of: Data.self)
            try await Right.respond(load)
            async let source: Void = {
                for start in stride(from: 0, to: Right.whole.count, by: 50_000) {
                    more.yield(Right.whole.dropFirst(start).prefix(50_000))
                }
                more.finish()
            }()
            for await piece in pieces { try await load.receive(piece) }
            await source
            try Task.checkCancellation()
        },
        RightLoad("what blocks is off the loop") { load in
            let data = try await load.offLoop { () -> Data in
                Thread.sleep(forTimeInterval: 0.05)
                return Right.whole
            }
            try await Right.respond(load)
            try await Right.give(data, to: load)
        },
        RightLoad("computes for long") { load in
            let end = ContinuousClock.now + .milliseconds(60)
            while ContinuousClock.now < end {}
            try await Right.load(load)
        },
        RightLoad("reports metrics") { load in
            let start = Date()
            try await Right.load(load)
            var metrics = LoadMetrics(.localCache)
            metrics.request = DateInterval(start: start, end: start)
            metrics.response = DateInterval(start: start, duration: 0.001)
            load.report(metrics)
        },
        RightLoad("parts that replace each other") { load in
            for part in 0..<5 {
                try await Right.respond(load)
                try await load.receive(Data(repeating: UInt8(part), count: 50_000))
            }
        },
        RightLoad("multipart/x-mixed-replace") { load in
            try await Right.respond(load, 200, ["Content-Type": "multipart/x-mixed-replace; boundary=b"])
            for part in 0..<5 {
                try await load.receive(Data("--b\r\nContent-Type: text/plain\r\n\r\n\(part)\r\n".utf8))
            }
            try await load.receive(Data("--b--\r\n".utf8))
        },
        RightLoad("does not read ahead", [.resource(.a)]) { load in
            try await Right.respond(load)
            for _ in 0..<100 { try await load.receive(readSource()) }
        }.with { $0.bytesTaken = { taken.value } },
        RightLoad("waits for what the load before left") { load in
            defer { lock.give() }
            try await lock.take()
            try Task.checkCancellation()
            try await Right.respond(load)
            try await load.receive(Data("a".utf8))
        },
        .client("calls its client from its own thread") { handler in
            handler.respond()
            handler.give()
            handler.finish()
        },
        .client("calls its client from another thread") { handler in
            Thread { [handler] in
                handler.respond()
                handler.give()
                handler.finish()
            }.start()
        },
        .client("blocks in startLoading()") { handler in
            Thread.sleep(forTimeInterval: 0.01)
            handler.respond()
            handler.give()
            handler.finish()
        },
        RightLoad("cached", HandlerConformance(of: Caching.self, [.resource(.a)])),
    ]

    static let interceptors: [RightLoad] = [
        RightLoad("passes on", all, through: FunctionInterceptor { try await $0.receive($0.next.load($0.request)) }),
        RightLoad(
            "reads piece by piece", all,
            through: FunctionInterceptor(runsOnSessionExecutor: true) { load in
                let loaded = try await load.next.load(load.request)
                try await load.receive(loaded.response)
                for try await piece in loaded.body { try await load.receive(piece) }
            }),
        RightLoad(
            "adds a key for its host", all,
            through: FunctionAdapter(request: { request in
                guard request.url?.host == "host" else { return request.setValue(nil, forHTTPHeaderField: "X-Api-Key") }
                request.setValue("secret", forHTTPHeaderField: "X-Api-Key")
            })),
        RightLoad(
            "tries again before the response", all,
            through: FunctionInterceptor { load in
                let loaded: LoadedResponse
                do { loaded = try await load.next.load(load.request) } catch {
                    try Task.checkCancellation()
                    loaded = try await load.next.load(load.request)
                }
                try await load.receive(loaded)
            }),
        RightLoad(
            "three in a row", all, through: FunctionAdapter(),
            FunctionInterceptor { try await $0.receive($0.next.load($0.request)) }, FunctionAdapter()),
        RightLoad(
            "a class that passes on",
            {
                var conformance = HandlerConformance(of: Passing.self, [.resource(.a)]) { configuration in
                    configuration.register(scheme: "t") { try await Right.load($0) }
                }
                conformance.isInterceptor = true
                return conformance
            }()),
    ]

    private static let taken = Box(0)
    private static let lock = AsyncLock()

    private static func readSource() -> Data {
        taken.update { $0 += 65_536 }
        return Data(count: 65_536)
    }

    private init(_ name: String, _ conformance: HandlerConformance) {
        (self.name, self.conformance) = (name, conformance)
        self.conformance.loadsAtOnce = 20
    }

    private static func client(_ name: String, _ start: @escaping @Sendable (ClientHandler) -> Void) -> RightLoad {
        RightLoad(name) { $0.register(scheme: "t") { ClientHandler($0, start) } }
    }

    private func with(_ change: (inout HandlerConformance) -> Void) -> RightLoad {
        var load = self
        change(&load.conformance)
        return load
    }

    private final class Caching: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "t" }
        override func load(_ load: LoadContext) async throws {
            if load.cachedResponse != nil { try await load.useCachedResponse() }
            try await load.receive(Right.response(load), cacheStoragePolicy: .allowed)
            try await Right.give(Right.whole, to: load)
        }
    }

    private final class Passing: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
    }
}
