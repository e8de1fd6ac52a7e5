import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport

/// Handlers of Apple's shape, and classes whose decisions break rule 1.
extension Breach {
    static let handlers: [Breach] = clients + classes

    private static let clients: [Breach] = [
        .client("data after the end", 10, "body bytes") { handler in
            handler.respond()
            handler.finish()
            handler.give()
        },
        .client("two ends", 10, "an error") { handler in
            handler.respond()
            handler.finish()
            handler.client?.urlProtocol(handler, didFailWithError: URLError(.unknown))
        },
        .client("no end", 10, "did not end") { $0.respond() }.limited(to: 0.5),
        .client("data before the response", 8, "response before") { handler in
            handler.give()
            handler.finish()
        },
        {
            let kept = Recorder<ClientHandler>()
            return .client("a list keeps each handler", 6, "held") { handler in
                kept.append(handler)
                handler.respond()
                handler.finish()
            }.limited(to: 5)
        }(),
        .client("a handler holds itself", 6, "holds itself") { handler in
            handler.held.value = [handler]
            handler.respond()
            handler.finish()
        }.limited(to: 5),
        .client("startLoading() goes on after stopLoading()", 5, "stopLoading()") { handler in
            handler.respond()
            handler.give()
            Thread.sleep(forTimeInterval: 0.005)
            if handler.task?.state == .canceling || handler.task?.state == .completed {
                Thread.sleep(forTimeInterval: 20)
            }
            handler.finish()
        }.limited(to: 5).racing(),
        .client(
            "stopLoading() does not return", 6, "held", stop: { _ in Thread.sleep(forTimeInterval: 20) },
            { handler in
                handler.respond()
                handler.finish()
            }
        ).limited(to: 5),
        .client("an end as cancelled", 12, "nobody cancelled", [.failure(.a)]) { handler in
            handler.client?.urlProtocol(handler, didFailWithError: URLError(.cancelled))
        },
    ]

    private static let classes: [Breach] = [
        Breach("answers differ", 1, "answers differ", Random.self),
        Breach("takes all", 1, "another scheme", Greedy.self),
        Breach("takes nothing", 1, "cannot load it", Modest.self),
        Breach("compares a part of the scheme", 1, "another scheme", Prefixed.self),
        Breach("the canonical form has another one", 1, "canonical form", Counting.self),
        Breach("does not take the canonical form", 1, "false for its result", Renaming.self),
        Breach("canInit(with:) blocks", 1, "canInit(with:) takes", Slow.self),
        Breach("canonicalRequest(for:) blocks", 1, "canonicalRequest(for:) takes", SlowCanonical.self),
        Breach("gives half of a stored response", 20, "useCachedResponse", Halving.self),
    ]

    private init(_ name: String, _ rule: Int, _ words: String, _ handler: URLProtocolHandler.Type) {
        self.init(name, rule, words, HandlerConformance(of: handler, [.resource(.a)]))
        conformance.loadsAtOnce = 2
    }

    /// Loads at once; subclasses decide wrongly.
    private class Base: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "t" }
        override func load(_ load: LoadContext) async throws { try await Right.respond(load) }
    }

    private final class Random: Base, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { super.canInit(with: request) && .random() }
    }

    private final class Halving: Base, @unchecked Sendable {
        override func load(_ load: LoadContext) async throws {
            try await load.receive(Right.response(load), cacheStoragePolicy: .allowed)
            try await load.receive(Right.whole.prefix(load.cachedResponse == nil ? 1000 : 500))
        }
    }

    private final class Greedy: Base, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { true }
    }

    private final class Modest: Base, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { false }
    }

    private final class Prefixed: Base, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme?.hasPrefix("t") ?? false }
    }

    private final class Counting: Base, @unchecked Sendable {
        override class func canonicalRequest(for request: URLRequest) -> URLRequest {
            var request = request
            request.addValue("1", forHTTPHeaderField: "X-Count")
            return request
        }
    }

    private final class Renaming: Base, @unchecked Sendable {
        override class func canonicalRequest(for request: URLRequest) -> URLRequest {
            URLRequest(url: URL(fileURLWithPath: "/"))
        }
    }

    private final class Slow: Base, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool {
            Thread.sleep(forTimeInterval: 0.004)
            return super.canInit(with: request)
        }
    }

    private final class SlowCanonical: Base, @unchecked Sendable {
        override class func canonicalRequest(for request: URLRequest) -> URLRequest {
            Thread.sleep(forTimeInterval: 0.004)
            return request
        }
    }
}
