import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport

/// An interceptor whose methods are functions.
struct FunctionInterceptor: LoadInterceptor {
    var decide: @Sendable (URLRequest) -> Bool = { _ in true }
    var runsOnSessionExecutor = false
    let body: @Sendable (LoadContext) async throws -> Void

    func canIntercept(_ request: URLRequest) -> Bool { decide(request) }
    func load(_ load: LoadContext) async throws { try await body(load) }
}

/// An adapter whose methods are functions.
struct FunctionAdapter: LoadAdapter {
    var request: @Sendable (inout URLRequest) -> Void = { _ in }
    var response: @Sendable (URLResponse) -> URLResponse = { $0 }

    func adapt(_ request: URLRequest) throws -> URLRequest {
        var request = request
        self.request(&request)
        return request
    }

    func adapt(_ response: URLResponse, to request: URLRequest) throws -> URLResponse { self.response(response) }
}

extension Breach {
    static let interceptors: [Breach] = decisions + bodies + secrets

    private static let forward: @Sendable (LoadContext) async throws -> Void = { load in
        try await load.receive(load.next.load(load.request))
    }

    private static func sleep(_ seconds: TimeInterval) { Thread.sleep(forTimeInterval: seconds) }

    private static let decisions: [Breach] = [
        .interceptor("answers differ", 1, "differ", FunctionInterceptor(decide: { _ in .random() }, body: forward)),
        .interceptor(
            "canIntercept(_:) blocks", 1, "canIntercept(_:) of",
            FunctionInterceptor(
                decide: { _ in
                    sleep(0.004)
                    return true
                }, body: forward)),
        .interceptor("an adapter blocks", 3, "adapt(_:) of", FunctionAdapter(request: { _ in sleep(0.004) })),
        .interceptor(
            "blocks the session's executor", 3, "offLoop",
            FunctionInterceptor(runsOnSessionExecutor: true) { load in
                sleep(0.06)
                try await forward(load)
            }),
    ]

    private static func collect(_ load: LoadContext) async throws {
        let loaded = try await load.next.load(load.request)
        var whole = Data()
        for try await piece in loaded.body { whole += piece }
        try await load.receive(loaded.response)
        try await load.receive(whole)
    }

    private final class Collector: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "t" }
        override func load(_ load: LoadContext) async throws { try await Breach.collect(load) }
    }

    private static let bodies: [Breach] = [
        .interceptor("collects the body", 13, "4 MiB", FunctionInterceptor(body: collect)),
        {
            var conformance = HandlerConformance(of: Collector.self, [.resource(.a)]) { configuration in
                configuration.interceptors = []
                configuration.register(scheme: "t") { try await Right.load($0) }
            }
            conformance.isInterceptor = true
            return Breach("a class collects the body", 13, "4 MiB", conformance)
        }(),
        .interceptor(
            "reads ahead into a stream", 13, "4 MiB",
            FunctionInterceptor { load in
                let loaded = try await load.next.load(load.request)
                let (pieces, more) = AsyncThrowingStream.makeStream(of: Data.self)
                let reader = Task {
                    do {
                        for try await piece in loaded.body { more.yield(piece) }
                        more.finish()
                    } catch { more.finish(throwing: error) }
                }
                defer { reader.cancel() }
                try await load.receive(loaded.response)
                for try await piece in pieces { try await load.receive(piece) }
            }
        ).racing(),
        .interceptor(
            "swallows the body's error", 12, "no error",
            FunctionInterceptor { load in
                let loaded = try await load.next.load(load.request)
                try await load.receive(loaded.response)
                var body = loaded.body.makeAsyncIterator()
                while let piece = try? await body.next() { try await load.receive(piece) }
            }),
        .interceptor(
            "begins again when the body breaks", 12, "began again",
            FunctionInterceptor { load in
                do { try await forward(load) } catch let error as URLError where error.code == .networkConnectionLost {
                    try await forward(load)
                }
            }),
        .interceptor(
            "replaces errors", 12, "instead of", on: [.failure(.a, expecting: CocoaError(.fileReadCorruptFile))],
            FunctionInterceptor { load in
                throw URLError(.unknown)
            }),
        .interceptor(
            "changes the body and not its length", 9, "expectedContentLength",
            FunctionInterceptor { load in
                let loaded = try await load.next.load(load.request)
                try await Right.respond(load, 200, ["Content-Length": "\(Right.whole.count)"])
                for try await piece in loaded.body { try await load.receive(piece + [1]) }
            }),
        .interceptor(
            "the head of another URL", 9, "URL is t://host/b",
            FunctionAdapter(response: { response in
                URLResponse(url: .b, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            })),
        .interceptor(
            "goes on when it is cancelled", 5, "go on", on: [.resource(.large)],
            FunctionInterceptor { load in
                do { try await forward(load) } catch {
                    guard Task.isCancelled else { throw error }
                    await Right.goOn()
                }
            }
        ).limited(to: 5),
        {
            let kept = Recorder<LoadContext>()
            return .interceptor(
                "a list keeps each context", 6, "held",
                FunctionInterceptor { load in
                    kept.append(load)
                    try await forward(load)
                }
            ).limited(to: 5)
        }(),
        .interceptor(
            "forwards no body", 18, "report(progress:)", on: [Right.upload()],
            FunctionAdapter(request: { request in
                guard let url = request.url else { return }
                request = URLRequest(url: url)
                request.httpMethod = "POST"
            })),
        {
            let last = Box<LoadedResponse?>(nil)
            return .interceptor(
                "keeps the load's response in the instance", 2, "static", on: [.resource(.large)],
                FunctionInterceptor { load in
                    let loaded = try await load.next.load(load.request)
                    last.value = loaded
                    try await load.receive(loaded.response)
                    while true {
                        var body = last.value?.body.makeAsyncIterator()
                        guard let piece = try await body?.next() else { return }
                        try await load.receive(piece)
                    }
                }
            ).limited(to: 5)
        }(),
    ]

    private static let secrets: [Breach] = [
        .interceptor(
            "adds a key to each request", 23, "the field X-Api-Key",
            FunctionAdapter(request: { $0.setValue("secret", forHTTPHeaderField: "X-Api-Key") })),
        .interceptor(
            "adds a key to each query", 23, "the query item api_key",
            FunctionAdapter(request: { request in
                guard request.url?.query == nil, let text = request.url?.absoluteString else { return }
                if request.url?.host == "elsewhere.invalid" { request.url = URL(string: text + "?api_key=secret") }
            })),
        .interceptor(
            "sends a copy to another host", 23, "the field Authorization to collector.invalid",
            FunctionInterceptor { load in
                var copy = load.request
                copy.url = URL(string: "t://collector.invalid/")
                if load.url.host == "host" { _ = try? await load.next.load(copy) }
                try await forward(load)
            }),
        {
            let fields = Box<String?>(nil)
            return .interceptor(
                "carries Authorization over a redirect", 23, "the field Authorization to elsewhere.invalid",
                FunctionAdapter(request: { request in
                    if let value = request.value(forHTTPHeaderField: "Authorization") { fields.value = value }
                    request.setValue(fields.value, forHTTPHeaderField: "Authorization")
                }))
        }(),
    ]
}
