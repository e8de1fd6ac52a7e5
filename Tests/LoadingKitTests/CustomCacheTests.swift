import Foundation
import LoadingKit
import TestSupport
import Testing

/// What handlers of other schemes keep in the session's cache, and get back from it.
@Suite struct CustomCacheTests {
    /// Has its answers kept where the host is `keep`.
    private final class Numbered: URLProtocolHandler, @unchecked Sendable {  // no state of its own
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "numbered" }

        override func load(_ load: LoadContext) async throws {
            if let stored = load.cachedResponse {
                try await load.receive(stored.response)
                return try await load.receive(stored.data + Data(" again".utf8))
            }
            let response = URLResponse(
                url: load.url, mimeType: "text/plain", expectedContentLength: -1, textEncodingName: nil)
            if load.url.host == "keep" {
                try await load.receive(response, cacheStoragePolicy: .allowed)
            } else {
                try await load.receive(response)
            }
            try await load.receive(Data("one".utf8))
            if load.url.path == "/fails" { throw URLError(.networkConnectionLost) }
            try await load.receive(Data(" two".utf8))
        }
    }

    /// As people write them for Apple's systems.
    private final class Classic: URLProtocol, @unchecked Sendable {  // as its superclass
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "classic" }

        override func startLoading() {
            if let cachedResponse {
                client?.urlProtocol(self, cachedResponseIsValid: cachedResponse)
                return
            }
            guard let url = request.url else { return }
            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 5, textEncodingName: nil)
            client?.urlProtocol(
                self, didReceive: response,
                cacheStoragePolicy: url.host == "keep" ? .allowedInMemoryOnly : .notAllowed)
            client?.urlProtocol(self, didLoad: Data("fresh".utf8))
            client?.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }

    private static func makeSession(
        _ cache: URLCache = URLCache(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
    ) -> (URLSession, URLCache) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Numbered.self, Classic.self]
        configuration.urlCache = cache
        return (URLSession(configuration: configuration), cache)
    }

    private static func text(
        _ session: URLSession, _ url: String, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) async throws -> String {
        let request = URLRequest(url: try #require(URL(string: url)), cachePolicy: policy)
        return String(decoding: try await session.data(for: request).0, as: UTF8.self)
    }

    @Test func aHandlerGetsBackWhatItWantedKept() async throws {
        let (session, cache) = Self.makeSession()
        let texts = try await withTimeout {
            [
                try await Self.text(session, "numbered://keep/"), try await Self.text(session, "numbered://keep/"),
                try await Self.text(session, "numbered://keep/", .reloadIgnoringLocalCacheData),
                try await Self.text(session, "numbered://drop/"), try await Self.text(session, "numbered://drop/"),
            ]
        }
        #expect(texts == ["one two", "one two again", "one two", "one two", "one two"])
        let url = try #require(URL(string: "numbered://keep/"))
        #expect(cache.cachedResponse(for: URLRequest(url: url))?.storagePolicy == .allowed)
    }

    /// Counts its look-ups.
    private final class Counting: URLCache, @unchecked Sendable {  // as its superclass; a Recorder
        let looks = Recorder<Bool>()

        override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
            looks.append(true)
            return super.cachedResponse(for: request)
        }
    }

    /// The look-up of a subclass may block, and handlers are made on the session's loop.
    @Test func aSubclassIsNotAskedOnTheLoop() async throws {
        let cache = Counting(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
        let (session, _) = Self.makeSession(cache)
        for _ in 0..<2 { #expect(try await Self.text(session, "numbered://keep/") == "one two") }
        #expect(cache.looks.count == 0)
        let url = try #require(URL(string: "numbered://keep/"))
        #expect(cache.cachedResponse(for: URLRequest(url: url)) != nil)
    }

    @Test func aLoadThatFailsLeavesNothing() async throws {
        let (session, cache) = Self.makeSession()
        await #expect(throws: URLError.self) { try await Self.text(session, "numbered://keep/fails") }
        #expect(cache.currentMemoryUsage == 0)
    }

    @Test func aProtocolOfApplesShapeToo() async throws {
        let (session, cache) = Self.makeSession()
        for host in ["keep", "drop"] {
            for _ in 0..<2 { #expect(try await Self.text(session, "classic://\(host)/") == "fresh") }
        }
        let kept = cache.cachedResponse(for: URLRequest(url: try #require(URL(string: "classic://keep/"))))
        #expect(kept?.data == Data("fresh".utf8) && kept?.storagePolicy == .allowedInMemoryOnly)
        let dropped = cache.cachedResponse(for: URLRequest(url: try #require(URL(string: "classic://drop/"))))
        #expect(dropped == nil)
    }
}
