import Foundation
import LoadingKit
import Testing

/// A cache asked by task is asked for the task's current request.
@Suite struct URLCacheTaskTests {
    @Test func aTasksResponseIsThatOfItsRequest() throws {
        let cache = URLCache(memoryCapacity: 10_000, diskCapacity: 0, diskPath: nil)
        let url = try #require(URL(string: "http://h/a"))
        let task = URLSession(configuration: .ephemeral).dataTask(with: url)
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil)
        let cached = CachedURLResponse(response: response, data: Data([1]))
        cache.storeCachedResponse(cached, for: task)
        #expect(cache.cachedResponse(for: URLRequest(url: url)) === cached)
        cache.getCachedResponse(for: task) { #expect($0 === cached) }
        cache.removeCachedResponse(for: task)
        cache.getCachedResponse(for: task) { #expect($0 == nil) }
    }
}
