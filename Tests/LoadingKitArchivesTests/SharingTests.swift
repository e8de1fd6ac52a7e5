import Foundation
import LoadingKit
import LoadingKitArchives
import LoadingKitLoopbackServer
import LoadingKitTesting
import Synchronization
import TestSupport
import Testing

/// Redirects, credentials, the session's stores, and backpressure.
@Suite(.timeLimit(.minutes(5))) struct SharingTests {
    private static let archive = Result { try SessionTests.archive() }

    /// The archive's server redirects each request: the load continues at the new URL, and the directory is cached for the old one.
    @Test func redirects() async throws {
        let target = try RangeServer(Self.archive.get())
        let location = target.server.url("/moved.zip", host: "localhost")
        let origin = try LoopbackServer { _ in .redirect(to: location) }
        defer { origin.stop() }
        let archive = try #require(URL(string: origin.url("/a.zip")))
        let url = try #require(ArchiveURL(archive: archive, member: "readme.txt").url)
        let session = makeSession()
        for expected in [1 + 2, 1 + 1] {
            let before = origin.requests.count + target.requests.count
            let (data, response) = try await session.load(
                url, fields: ["Range": "bytes=1-3", "Authorization": "Bearer secret"])
            #expect(String(decoding: data, as: UTF8.self) == "ell" && response.statusCode == 206)
            #expect(response.url?.absoluteString == "zip:\(location)!/readme.txt")
            #expect(origin.requests.count + target.requests.count - before == expected)
        }
        #expect(origin.requests.snapshot.allSatisfy { $0.fields[.authorization] == "Bearer secret" })
        #expect(target.requests.allSatisfy { $0.fields[.authorization] == nil })
    }

    /// A delegate gets the redirect's `zip:` URL, and may decline; no server can redirect to a file.
    @Test func redirectsAreTheDelegates() async throws {
        final class Declining: NSObject, URLSessionTaskDelegate {
            let urls = Mutex<[String?]>([])
            func urlSession(
                _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest
            ) async -> URLRequest? {
                urls.withLock { $0.append(request.url?.absoluteString) }
                return nil
            }
        }
        let origin = try LoopbackServer { request in
            .redirect(to: request.path == "/file" ? "file:///etc/hostname" : "http://localhost/b.zip")
        }
        defer { origin.stop() }
        let url = try #require(URL(string: "zip:\(origin.url("/a"))!/m"))
        let file = try #require(URL(string: "zip:\(origin.url("/file"))!/m"))
        let session = makeSession()
        let delegate = Declining()
        let (_, response) = try await session.data(for: URLRequest(url: url), delegate: delegate)
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(response.url == url)
        #expect(delegate.urls.withLock { $0 } == ["zip:http://localhost/b.zip!/m"])
        let error = await #expect(throws: URLError.self) { try await session.load(file) }
        #expect(error?.code == .redirectToNonExistentLocation)
    }

    /// A load ends after twenty redirects.
    @Test func redirectsEnd() async throws {
        let origin = try LoopbackServer { _ in .redirect(to: "/a.zip") }
        defer { origin.stop() }
        let archive = try #require(URL(string: origin.url("/a.zip")))
        let url = try #require(ArchiveURL(archive: archive, member: "m").url)
        let session = makeSession()
        let error = await #expect(throws: URLError.self) { try await session.load(url) }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(origin.requests.count == 21)
    }

    @Test func whatAServerRefusesIsNotAnsweredFromTheCache() async throws {
        let server = try RangeServer(Self.archive.get()) { state in
            state.willAnswer = { _, _, request in
                request.fields[.authorization] == "Bearer one" ? nil : ServerResponse(403)
            }
        }
        let session = makeSession()
        let one = ["Authorization": "Bearer one"], two = ["Authorization": "Bearer two"]
        #expect(try await session.load(try server.url(), fields: one).0.count > 100)
        for name in ["", "readme.txt", "none"] {
            #expect(await session.archiveError(try server.url(name), fields: two) == .unexpectedStatus(403))
        }
        // The same credentials, which are no longer valid.
        server.state.update { $0.willAnswer = { _, _, _ in ServerResponse(403) } }
        for name in ["", "readme.txt", "none"] {
            #expect(await session.archiveError(try server.url(name), fields: one) == .unexpectedStatus(403))
        }
    }

    /// An archive that came whole, and without its length.
    @Test func whatAServerWithoutLengthsRefusesIsNotAnsweredFromTheCache() async throws {
        let server = try RangeServer(Self.archive.get()) { state in
            (state.answersRanges, state.answersUnknownLength) = (false, true)
        }
        let session = makeSession()
        #expect(try await session.load(try server.url()).0.count > 100)
        server.state.update { $0.willAnswer = { _, _, _ in ServerResponse(403) } }
        for name in ["", "none"] {
            #expect(await session.archiveError(try server.url(name)) == .unexpectedStatus(403))
        }
    }

    @Test func installationsShareNoDirectory() async throws {
        let server = try RangeServer(Self.archive.get())
        let loader = ArchiveLoader()
        for _ in 0..<2 {
            let configuration = URLSessionConfiguration.ephemeral
            loader.install(in: configuration)
            _ = try await URLSession(configuration: configuration).load(try server.url("readme.txt"))
        }
        #expect(server.ranges.filter { $0 == "bytes=-32768" }.count == 2)
    }

    @Test func cookiesAndChallengesOfTheSession() async throws {
        let server = try RangeServer(Self.archive.get()) { state in
            state.willAnswer = { _, _, request in
                request.fields[.authorization] == nil
                    ? ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"") : nil
            }
        }
        let configuration = URLSessionConfiguration.ephemeral
        ArchiveLoader().install(in: configuration)
        let port = Int(try #require(server.server.address.port))
        let space = URLProtectionSpace(
            host: "127.0.0.1", port: port, protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        configuration.urlCredentialStorage?.setDefaultCredential(
            URLCredential(user: "user", password: "password", persistence: .forSession), for: space)
        let cookie = HTTPCookie(properties: [.name: "a", .value: "b", .domain: "127.0.0.1", .path: "/"])
        configuration.httpCookieStorage?.setCookie(try #require(cookie))
        let session = URLSession(configuration: configuration)
        #expect(try await session.load(try server.url("readme.txt")).0.count == 5)
        #expect(server.requests.allSatisfy { $0.fields[name: "Cookie"] == "a=b" })
        #expect(server.requests.last?.fields[.authorization] != nil)
    }

    /// A changed archive is loaded as it is now, although the session's cache may have an earlier version.
    @Test func theSessionsCache() async throws {
        let server = try RangeServer(Self.archive.get())
        let configuration = URLSessionConfiguration.ephemeral
        ArchiveLoader().install(in: configuration)
        let session = URLSession(configuration: configuration)
        for _ in 0..<2 { #expect(try await session.load(try server.url("readme.txt")).0 == Data("hello".utf8)) }
        let new = try SessionTests.archive { $0.members[0] = .init("readme.txt", "changed") }
        server.state.update { ($0.bytes, $0.entityTag) = (new, "\"two\"") }
        #expect(try await session.load(try server.url("readme.txt")).0 == Data("changed".utf8))
    }

    /// A suspended task stops the archive's connection: the server cannot write on.
    @Test func backpressureAndCancellation() async throws {
        let content = [UInt8](repeating: 0x61, count: 40_000_000)
        // Computing the checksum of this content would take long; the load ends before it is needed.
        let server = try RangeServer(ArchiveBuilder(.init("large", content).with { $0.checksum = 1 }).make())
        let session = makeSession()
        let (bytes, response) = try await session.bytes(from: try server.url("large"))
        #expect(response.expectedContentLength == 40_000_000)
        var iterator = bytes.makeAsyncIterator()
        #expect(try await iterator.next() == 0x61)
        bytes.task.cancel()
        _ = await server.server.endings.count(reaches: 1)
        // No more than the sockets and the load's buffers hold.
        #expect(server.sent.value < 20_000_000)
    }

    @Test func conformance() async throws {
        let server = try RangeServer(Self.archive.get())
        let gone = try LoopbackServer { _ in ServerResponse(404) }
        defer { gone.stop() }
        let folder = try TemporaryFolder()
        let file = try folder.write(try Self.archive.get(), to: "archive.zip")
        func member(_ archive: URL?, _ name: String) throws -> URL {
            let archive = try #require(archive)
            return try #require(ArchiveURL(archive: archive, member: name).url)
        }
        let samples: [ConformanceSample] = [
            .resource(try server.url("stored.bin")), .resource(try server.url("dir/deflated.json")),
            .resource(try member(file, "stored.bin")), .resource(try server.url()),
            .failure(try server.url("none")), .failure(try member(URL(string: gone.url("/a.zip")), "a")),
        ]
        var installed = HandlerConformance(samples) { ArchiveLoader().install(in: $0) }
        installed.loadsAtOnce = 300
        let report = await installed.run()
        #expect(report.findings.isEmpty, "\(report)")
    }
}
