import Foundation
import LoadingKit
import TestSupport
import Testing

/// What an ephemeral configuration's sessions keep, and until when.
@Suite struct EphemeralStoreTests {
    private static func fill(_ configuration: URLSessionConfiguration) throws {
        let space = URLProtectionSpace(
            host: "example.org", port: 443, protocol: "https", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        configuration.urlCredentialStorage?.setDefaultCredential(
            URLCredential(user: "user", password: "password", persistence: .forSession), for: space)
        let cookie = try #require(
            HTTPCookie(properties: [.name: "a", .value: "b", .domain: "example.org", .path: "/"]))
        configuration.httpCookieStorage?.setCookie(cookie)
        let url = try #require(URL(string: "https://example.org/"))
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil)
        configuration.urlCache?.storeCachedResponse(
            CachedURLResponse(response: response, data: Data("a".utf8)), for: URLRequest(url: url))
    }

    /// Which of its stores have something.
    private static func kept(_ configuration: URLSessionConfiguration) throws -> [String] {
        let url = try #require(URL(string: "https://example.org/"))
        return [
            configuration.urlCredentialStorage?.allCredentials.isEmpty == false ? "credentials" : nil,
            configuration.httpCookieStorage?.cookies?.isEmpty == false ? "cookies" : nil,
            configuration.urlCache?.cachedResponse(for: URLRequest(url: url)) == nil ? nil : "responses",
        ].compactMap { $0 }
    }

    private static func session(_ configuration: URLSessionConfiguration) -> (URLSession, EventRecorder) {
        let recorder = EventRecorder()
        return (URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil), recorder)
    }

    @Test(arguments: [false, true]) func theLastSessionsInvalidationClearsThem(finishes: Bool) async throws {
        let all = ["credentials", "cookies", "responses"]
        let configuration = URLSessionConfiguration.ephemeral
        let (first, firstRecorder) = Self.session(configuration)
        let (second, secondRecorder) = Self.session(configuration)
        try Self.fill(configuration)
        try await withTimeout {
            first.invalidateAndCancel()
            _ = await firstRecorder.events(upTo: "invalid")
            #expect(try Self.kept(configuration) == all)
            if finishes { second.finishTasksAndInvalidate() } else { second.invalidateAndCancel() }
            _ = await secondRecorder.events(upTo: "invalid")
            #expect(try Self.kept(configuration) == [])
            // Nor does a session that is made later bring anything back, or keep anything beyond its own end.
            let (third, thirdRecorder) = Self.session(configuration)
            try Self.fill(configuration)
            third.invalidateAndCancel()
            _ = await thirdRecorder.events(upTo: "invalid")
            #expect(try Self.kept(configuration) == [])
        }
    }

    /// They are the program's.
    @Test func storesOfAProgramsOwnStay() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = HTTPCookieStorage()
        configuration.urlCredentialStorage = URLCredentialStorage()
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let (session, recorder) = Self.session(configuration)
        try Self.fill(configuration)
        try await withTimeout {
            session.invalidateAndCancel()
            _ = await recorder.events(upTo: "invalid")
            let kept = try Self.kept(configuration)
            #expect(kept.count == 3)
        }
    }
}
