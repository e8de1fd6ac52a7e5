import Foundation
import Testing

@testable import LoadingKitCore

@Suite("URLCache")
struct URLCacheTests {
    private func request(_ path: String, method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://h/\(path)")))
        request.httpMethod = method
        return request
    }

    private func cached(
        _ bytes: Int, policy: URLCache.StoragePolicy = .allowed, userInfo: [AnyHashable: Any]? = nil
    ) -> CachedURLResponse {
        let response = URLResponse(
            url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: bytes, textEncodingName: nil)
        return CachedURLResponse(
            response: response, data: Data(count: bytes), userInfo: userInfo, storagePolicy: policy)
    }

    @Test("gives back what was stored for the same method and URL, whatever the fragment")
    func keys() throws {
        let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
        let response = cached(10)
        cache.storeCachedResponse(response, for: try request("a?b#c"))
        #expect(cache.cachedResponse(for: try request("a?b")) === response)
        #expect(cache.cachedResponse(for: try request("a?b#d")) === response)
        for different in [try request("a"), try request("a?c"), try request("a?b", method: "HEAD")] {
            #expect(cache.cachedResponse(for: different) == nil)
        }
        let newer = cached(20)
        cache.storeCachedResponse(newer, for: try request("a?b"))
        #expect(cache.cachedResponse(for: try request("a?b")) === newer)
        cache.removeCachedResponse(for: try request("a?b"))
        #expect(cache.cachedResponse(for: try request("a?b")) == nil && cache.currentMemoryUsage == 0)
    }

    @Test("keeps nothing that may not be kept, or that is too large")
    func refusals() throws {
        let cache = URLCache(memoryCapacity: 1000, diskCapacity: 0, diskPath: nil)
        cache.storeCachedResponse(cached(10, policy: .notAllowed), for: try request("a"))
        cache.storeCachedResponse(cached(1001), for: try request("b"))
        var nowhere = try request("c")
        nowhere.url = nil
        cache.storeCachedResponse(cached(10), for: nowhere)
        #expect(cache.currentMemoryUsage == 0 && cache.cachedResponse(for: nowhere) == nil)
        cache.storeCachedResponse(cached(10, policy: .allowedInMemoryOnly), for: try request("a"))
        #expect(cache.currentMemoryUsage >= 10)
        // What was there is no longer true once something too large came in its place.
        cache.storeCachedResponse(cached(1001), for: try request("a"))
        #expect(cache.cachedResponse(for: try request("a")) == nil)
    }

    @Test("forgets the least recently used first")
    func eviction() throws {
        let cache = URLCache(memoryCapacity: 3500, diskCapacity: 0, diskPath: nil)
        for path in ["a", "b", "c"] { cache.storeCachedResponse(cached(1000), for: try request(path)) }
        #expect(cache.cachedResponse(for: try request("a")) != nil)
        cache.storeCachedResponse(cached(1000), for: try request("d"))
        let present = try ["a", "b", "c", "d"].filter { cache.cachedResponse(for: try request($0)) != nil }
        #expect(present == ["a", "c", "d"] && cache.currentMemoryUsage <= 3500)
        cache.memoryCapacity = 1500
        let left = try ["c", "d"].filter { cache.cachedResponse(for: try request($0)) != nil }
        #expect(left == ["d"])
        cache.memoryCapacity = -1
        #expect(cache.memoryCapacity == 0 && cache.currentMemoryUsage == 0)
        cache.diskCapacity = 7
        #expect(cache.diskCapacity == 7 && cache.currentDiskUsage == 0)
    }

    @Test("forgets all, or what was stored since a date")
    func removal() throws {
        let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
        cache.storeCachedResponse(cached(1), for: try request("a"))
        cache.removeCachedResponses(since: Date(timeIntervalSinceNow: 3600))
        #expect(cache.cachedResponse(for: try request("a")) != nil)
        cache.removeCachedResponses(since: Date(timeIntervalSinceNow: -3600))
        #expect(cache.cachedResponse(for: try request("a")) == nil)
        cache.storeCachedResponse(cached(1), for: try request("a"))
        cache.removeAllCachedResponses()
        #expect(cache.currentMemoryUsage == 0)
    }

    @Test("lets what it forgets use the cache")
    func reentrancy() throws {
        final class Guest: CachedURLResponse, @unchecked Sendable {  // its one property is set before it is shared
            var onEnd: () -> Void = {}
            deinit { onEnd() }
        }
        let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
        nonisolated(unsafe) var usages: [Int] = []
        for _ in 0..<2 {
            let guest = Guest(
                response: URLResponse(
                    url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil),
                data: Data(count: 9))
            guest.onEnd = { usages.append(cache.currentMemoryUsage) }
            cache.storeCachedResponse(guest, for: try request("a"))
        }
        cache.removeAllCachedResponses()
        #expect(usages.count == 2 && usages.last == 0)
    }

    @Test("is shared, and can be replaced")
    func shared() {
        let original = URLCache.shared
        #expect(
            original === URLCache.shared && original.memoryCapacity == 4 << 20 && original.diskCapacity == 20 << 20)
        let mine = URLCache(memoryCapacity: 1, diskCapacity: 1, diskPath: nil)
        URLCache.shared = mine
        #expect(URLCache.shared === mine)
        URLCache.shared = original
    }

    @Test("is used from many threads at once")
    func threads() throws {
        let cache = URLCache(memoryCapacity: 20_000, diskCapacity: 0, diskPath: nil)
        let requests = try (0..<50).map { try request("\($0)") }
        let response = cached(1000)
        DispatchQueue.concurrentPerform(iterations: 1000) { index in
            let request = requests[(index * 7) % requests.count]
            cache.storeCachedResponse(response, for: request)
            _ = cache.cachedResponse(for: request)
            if index % 5 == 0 { cache.removeCachedResponse(for: request) }
        }
        #expect(cache.currentMemoryUsage <= 20_000)
        cache.removeAllCachedResponses()
        #expect(cache.currentMemoryUsage == 0)
    }

    @Test("keeps responses that compare by their content")
    func cachedResponses() {
        let response = cached(3, userInfo: ["a": 1])
        #expect(response == cached(3, userInfo: ["a": 1]) && response.hash == cached(3, userInfo: ["a": 1]).hash)
        for other in [cached(4, userInfo: ["a": 1]), cached(3), cached(3, policy: .notAllowed, userInfo: ["a": 1])] {
            #expect(response != other)
        }
        #expect(response.copy() as? CachedURLResponse === response)
        #expect(CachedURLResponse(response: response.response, data: Data()).storagePolicy == .allowed)
    }
}
