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

    /// The asynchronous forms that Swift gives to methods with completion handlers on Apple's systems.
    @Test func storesAreAskedAsynchronously() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        let session = URLSession(configuration: configuration)
        let cache = try #require(configuration.urlCache)
        let storage = try #require(configuration.urlCredentialStorage)
        let url = try #require(URL(string: "http://h/a"))
        let task = session.dataTask(with: url)
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil)
        let cached = CachedURLResponse(response: response, data: Data([1]))
        let space = URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)
        let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
        cache.storeCachedResponse(cached, for: task)
        storage.setDefaultCredential(credential, for: space, task: task)
        #expect(await cache.cachedResponse(for: task) === cached)
        #expect(await storage.credentials(for: space, task: task)?.keys.sorted() == ["u"])
        #expect(await storage.defaultCredential(for: space, task: task) == credential)
        await session.flush()
        #expect(await cache.cachedResponse(for: task) === cached)
        await session.reset()
        #expect(await cache.cachedResponse(for: task) == nil)
        #expect(await storage.credentials(for: space, task: task) == nil)
        session.invalidateAndCancel()
    }
}
