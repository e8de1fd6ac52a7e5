#if Persistence
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import TestSupport
    import Testing

    /// The data on disk about the users whose responses are stored: enough to recognise them, and no secret.
    @Suite struct CacheOwnersOnDiskTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// A cache as another process would open it.
        private func cache() -> URLCache {
            URLCache(memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: folder.file("Cache"))
        }

        private func session(_ name: String?, _ cache: URLCache) -> URLSession {
            makeSession {
                $0.urlCache = cache
                $0.httpAdditionalHeaders = name.map { ["Authorization": "Bearer \($0)"] }
            }
        }

        /// Each process finds what was stored for the same user, whoever used the cache in between.
        @Test(arguments: [[], ["Vary: Authorization, X-Any"]]) func laterProcesses(vary: [String]) async throws {
            let server = try LoopbackServer(route: PersonalSite.route)
            defer { server.stop() }
            try await withTimeout {
                let request = try PersonalSite.request(server, ["Cache-Control: max-age=1000"] + vary)
                for (names, count) in [
                    (["ada"], 1), (["ada"], 1), (["bob", nil], 3), (["ada", "bob", nil], 3), ([nil, "bob", "ada"], 3),
                ] as [([String?], Int)] {
                    let cache = cache()
                    for name in names {
                        let session = session(name, cache)
                        let outcome = await session.outcome(request)
                        #expect(outcome == .ok(name ?? "nobody"))
                        session.invalidateAndCancel()
                    }
                    #expect(server.requests.count == count)
                    await cache.flush()
                }
            }
        }

        @Test func noSecretIsInAFile() async throws {
            let server = try LoopbackServer { request in
                guard request.path != "/basic" || request.fields.contains(.authorization) else {
                    return PersonalSite.refusal("Basic realm=r")
                }
                return .text("stored").adding([
                    "Cache-Control": "max-age=1000", "Vary": "Authorization, Cookie, X-Api-Key, Proxy-Authorization",
                ])
            }
            defer { server.stop() }
            try await withTimeout {
                let cache = cache()
                let storage = HTTPCookieStorage()
                let cookie = HTTPCookie(properties: [
                    .name: "c", .value: "hidden-cookie", .domain: "127.0.0.1", .path: "/",
                ])
                storage.setCookie(try #require(cookie))
                let session = makeSession(delegate: ChallengeAnswerer("hidden-user", "hidden-password")) {
                    $0.urlCache = cache
                    $0.httpCookieStorage = storage
                    $0.httpAdditionalHeaders = ["X-Api-Key": "hidden-key"]
                }
                let token = makeSession {
                    $0.urlCache = cache
                    $0.httpAdditionalHeaders = ["Authorization": "Bearer hidden-token", "Cookie": "hidden-by-hand"]
                }
                defer { for session in [session, token] { session.invalidateAndCancel() } }
                let named = server.url("/named").replacing("//", with: "//hidden-name:hidden-word@")
                for (session, url) in [
                    (session, server.url("/basic")), (session, server.url("/a")), (session, named),
                    (token, server.url("/b")), (token, server.url("/a")),
                ] {
                    let request = URLRequest(url: try #require(URL(string: url)))
                    for _ in 0..<2 { #expect(await session.outcome(request) == .ok("stored")) }
                }
                // Each response was stored: one request each, and two where the server sent a challenge.
                #expect(server.requests.count == 6)
                let shown = cache.cachedResponse(for: URLRequest(url: try #require(URL(string: named))))
                #expect(shown?.response.url?.absoluteString == server.url("/named"))
                await cache.flush()
                let secrets = ["hidden", Data("hidden-user:hidden-password".utf8).base64EncodedString()]
                for file in try #require(FileManager.default.subpaths(atPath: folder.path)) {
                    guard let data = try? Data(contentsOf: folder.file(file)) else { continue }
                    for secret in secrets { #expect(data.range(of: Data(secret.utf8)) == nil, "\(file): \(secret)") }
                }
                let key = folder.file("Cache/Responses.key")
                let attributes = try FileManager.default.attributesOfItem(atPath: key.path)
                #expect(attributes[.posixPermissions] as? Int == 0o600 && attributes[.size] as? Int == 32)
            }
        }

        /// Without the key no response of one user alone is found, and a new key is made.
        @Test func theKeyIsLost() async throws {
            let server = try LoopbackServer(route: PersonalSite.route)
            defer { server.stop() }
            try await withTimeout {
                let request = try PersonalSite.request(server, ["Cache-Control: max-age=1000"])
                let key = folder.file("Cache/Responses.key")
                enum Change { case none, removed, damaged }
                for (change, count) in [
                    (Change.none, 1), (.none, 1), (.removed, 2), (.none, 2), (.damaged, 3), (.none, 3),
                ] {
                    switch change {
                    case .none: break
                    case .removed: try FileManager.default.removeItem(at: key)
                    case .damaged: try Data([1]).write(to: key)
                    }
                    let cache = cache()
                    let session = session("ada", cache)
                    #expect(await session.outcome(request) == .ok("ada"))
                    #expect(server.requests.count == count)
                    session.invalidateAndCancel()
                    await cache.flush()
                }
            }
        }
    }
#endif
