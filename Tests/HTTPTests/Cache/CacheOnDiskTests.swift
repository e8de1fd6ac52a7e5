#if Persistence
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitPrimitives
    import TestSupport
    import Testing

    /// A session whose cache is a folder, made by the public initializers.
    @Suite struct CacheOnDiskTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        private func cache(memory: Int = 1 << 20, disk: Int = 1 << 20) -> URLCache {
            URLCache(memoryCapacity: memory, diskCapacity: disk, directory: folder.file("Cache"))
        }

        private func server(_ fields: [String: String] = ["Cache-Control": "max-age=1000"]) throws -> CachingSession {
            try CachingSession { request in .text("body of \(request.path)").adding(fields) }
        }

        private func session(_ cache: URLCache) -> URLSession { makeSession { $0.urlCache = cache } }

        private func load(_ session: URLSession, _ request: URLRequest) async throws -> String {
            String(decoding: try await session.data(for: request).0, as: UTF8.self)
        }

        @Test func aLaterProcessIsAnswered() async throws {
            let test = try server()
            defer { test.stop() }
            try await withTimeout {
                for round in 0..<3 {
                    // Each session has a new cache, with nothing in memory.
                    let cache = cache(memory: round == 2 ? 0 : 1 << 20)
                    let session = session(cache)
                    for path in ["/a", "/b"] {
                        let body = try await load(session, test.request(path))
                        #expect(body == "body of \(path)")
                    }
                    #expect(test.count == 2)
                    await withCheckedContinuation { done in session.flush { done.resume() } }
                    #expect(cache.currentDiskUsage > 20)
                    session.invalidateAndCancel()
                }
            }
        }

        @Test func variantsAreFoundAgain() async throws {
            let test = try CachingSession { request in
                .text("for \(request.fields[name: "X-A"] ?? "none")").adding([
                    "Cache-Control": "max-age=1000", "Vary": "X-A",
                ])
            }
            defer { test.stop() }
            try await withTimeout {
                for _ in 0..<2 {
                    let cache = cache()
                    let session = session(cache)
                    for value in ["1", "2", "1"] {
                        let body = try await load(session, test.request("/", ["X-A": value]))
                        #expect(body == "for \(value)")
                    }
                    #expect(test.count == 2)
                    await cache.flush()
                    session.invalidateAndCancel()
                }
            }
        }

        @Test func aResponseOverATwentiethStaysInMemory() async throws {
            let test = try CachingSession { request in
                .text(String(repeating: "x", count: request.path == "/large" ? 6000 : 4000))
                    .adding(["Cache-Control": "max-age=1000"])
            }
            defer { test.stop() }
            try await withTimeout {
                for expected in [2, 3] {
                    let cache = cache(disk: 100_000)
                    let session = session(cache)
                    for path in ["/large", "/small"] { _ = try await load(session, test.request(path)) }
                    #expect(test.count == expected)
                    await cache.flush()
                    #expect(cache.currentDiskUsage > 4000 && cache.currentDiskUsage < 6000)
                    session.invalidateAndCancel()
                }
            }
        }

        @Test func headsAreAnsweredFromTheDisk() async throws {
            let test = try server()
            defer { test.stop() }
            try await withTimeout {
                for method in ["HEAD", "GET", "HEAD"] {
                    let cache = cache()
                    let session = session(cache)
                    _ = try await load(session, test.request("/a", method: method))
                    await cache.flush()
                    session.invalidateAndCancel()
                }
                #expect(test.count == 2)
            }
        }

        @Test func resetRemovesWhatIsOnDisk() async throws {
            let test = try server()
            defer { test.stop() }
            try await withTimeout {
                let cache = cache()
                let session = session(cache)
                defer { session.invalidateAndCancel() }
                _ = try await load(session, test.request("/a"))
                await cache.flush()
                #expect(cache.currentDiskUsage > 0)
                await withCheckedContinuation { done in session.reset { done.resume() } }
                #expect(cache.currentDiskUsage == 0)
                let files = try FileManager.default.contentsOfDirectory(atPath: folder.file("Cache/Contents").path)
                #expect(files.isEmpty && self.cache().cachedResponse(for: test.request("/a")) == nil)
            }
        }

        @Test func policiesAndUserInfoAreKept() async throws {
            let url = try #require(URL(string: "http://h/"))
            let request = URLRequest(url: url)
            let response = URLResponse(url: url, mimeType: "a/b", expectedContentLength: 1, textEncodingName: nil)
            for policy in [URLCache.StoragePolicy.allowed, .allowedInMemoryOnly, .notAllowed, .allowed] {
                let cache = cache()
                let stored = CachedURLResponse(
                    response: response, data: Data([1]), userInfo: ["policy": Int(policy.rawValue)],
                    storagePolicy: policy)
                cache.storeCachedResponse(stored, for: request)
                await cache.flush()
                let found = self.cache().cachedResponse(for: request)
                // A response that may not be stored is not, and the stored one stays.
                #expect(found == (policy == .allowed ? stored : nil), "\(policy)")
                cache.removeCachedResponse(for: request)
                await cache.flush()
            }
            #expect(cache().cachedResponse(for: request) == nil)
        }

        @Test func aCacheWithoutCapacityTouchesNoDisk() async throws {
            let cache = cache(disk: 0)
            let url = try #require(URL(string: "http://h/"))
            let stored = CachedURLResponse(
                response: URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil),
                data: Data([1]))
            cache.storeCachedResponse(stored, for: URLRequest(url: url))
            await cache.flush()
            #expect(try folder.contents().isEmpty && cache.currentDiskUsage == 0)
            cache.diskCapacity = 1000
            cache.storeCachedResponse(stored, for: URLRequest(url: url))
            await cache.flush()
            #expect(cache.currentDiskUsage > 0)
            // The cache of an ephemeral session stays in memory, whatever its capacity.
            let ephemeral = try #require(URLSessionConfiguration.ephemeral.urlCache)
            ephemeral.diskCapacity = 1000
            ephemeral.storeCachedResponse(stored, for: URLRequest(url: url))
            await ephemeral.flush()
            #expect(ephemeral.currentDiskUsage == 0)
        }

        @Test func aSubclassIsCalledOffTheLoop() async throws {
            final class Recording: URLCache, @unchecked Sendable {  // a Guarded
                let threads = Guarded<Set<String>>([])
                override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
                    threads.withLock { _ = $0.insert(Thread.current.name ?? "") }
                    return super.cachedResponse(for: request)
                }
            }
            let test = try server()
            defer { test.stop() }
            try await withTimeout {
                for _ in 0..<2 {
                    let cache = Recording(
                        memoryCapacity: 1 << 20, diskCapacity: 1 << 20, diskPath: folder.file("Cache").path)
                    let session = session(cache)
                    let body = try await load(session, test.request("/a"))
                    #expect(body == "body of /a")
                    #expect(test.count == 1)
                    await cache.flush()
                    session.invalidateAndCancel()
                }
            }
        }

        @Test func theSharedStoresAreOnDisk() async throws {
            let url = try #require(URL(string: "http://shared.example/"))
            let stored = CachedURLResponse(
                response: URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil),
                data: Data([1]))
            URLCache.shared.storeCachedResponse(stored, for: URLRequest(url: url))
            let space = URLProtectionSpace(
                host: "shared.example", port: 80, protocol: "http", realm: nil, authenticationMethod: nil)
            let credential = URLCredential(user: "a", password: "b", persistence: .permanent)
            URLCredentialStorage.shared.set(credential, for: space)
            HSTSStore.shared.note("max-age=1000", from: "shared.example")
            let session = URLSession(configuration: .default)
            defer { session.invalidateAndCancel() }
            await withCheckedContinuation { done in session.flush { done.resume() } }
            let environment = ProcessInfo.processInfo.environment
            let cache = try #require(environment["XDG_CACHE_HOME"].flatMap { FileManager.default.subpaths(atPath: $0) })
            let data = try #require(environment["XDG_DATA_HOME"].flatMap { FileManager.default.subpaths(atPath: $0) })
            #expect(cache.contains { $0.hasPrefix("LoadingKit/") && $0.hasSuffix("/Responses/Responses.sqlite") })
            for name in ["Credentials.sqlite", "Credentials.key", "StrictTransport.sqlite"] {
                #expect(data.contains { $0.hasPrefix("LoadingKit/") && $0.hasSuffix("/\(name)") }, "\(name)")
            }
            URLCredentialStorage.shared.remove(credential, for: space)
            URLCache.shared.removeCachedResponse(for: URLRequest(url: url))
        }
    }
#endif
