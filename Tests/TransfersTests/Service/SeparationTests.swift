import Foundation
import LoadingKitLoopbackServer
import LoadingKitPersistence
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

#if Persistence
    /// What two sessions of the service do not share.
    @Suite("Sessions of the service")
    struct SeparationTests {
        struct Other: Sendable, CustomTestStringConvertible {
            let identifier: String
            let program: String
            var testDescription: String { "\(identifier) of \(program)" }
        }

        @Test(
            "two sessions share no transfer, field, connection or cookie",
            arguments: [
                Other(identifier: "another", program: "/p"), Other(identifier: "s", program: "/another"),
            ])
        func nothingIsShared(_ other: Other) async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let server = try LoopbackServer { request in
                    let facts = ["Authorization", "Cookie"].map { request.fields[name: $0] ?? "-" }
                    return .text(facts.joined(separator: " ")).adding("Set-Cookie", "of=\(facts[0])")
                }
                defer { server.stop() }
                let service = try harness.start()
                defer { service.stop() }
                let one = TestProgram(
                    service, try harness.description { $0.httpAdditionalHeaders = ["Authorization": "one"] })
                let two = TestProgram(
                    service,
                    try harness.description(other.identifier, program: other.program) {
                        $0.httpAdditionalHeaders = ["Authorization": "two"]
                    })
                #expect(try await two.attached().transfers.isEmpty)
                var received: [String] = []
                for (program, identifier) in [(one, 1), (two, 1), (one, 2), (two, 2)] {
                    try await program.download(identifier, server.url())
                    let end = try await program.end(of: identifier)
                    let file = try #require(end.file)
                    received.append(try String(contentsOfFile: file, encoding: .utf8))
                }
                #expect(received == ["one -", "two -", "one of=one", "two of=two"])
                let connections = server.requests.snapshot.map(\.connection)
                #expect(Set([connections[0], connections[2]]).isDisjoint(with: [connections[1], connections[3]]))
            }
        }

        @Test(
            "a transfer that begins after the program changed its stores uses the new ones and the session's cookies")
        func changedStores() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let server = try LoopbackServer { request in
                    .text(request.fields[name: "Cookie"] ?? "-").adding("Set-Cookie", "session=1")
                        .adding("Set-Cookie", "kept=1; Max-Age=1000")
                }
                defer { server.stop() }
                let file = harness.folder.file("Cookies.sqlite")
                let storages = Recorder<HTTPCookieStorage>()
                harness.makeConfiguration.value = {
                    let configuration = URLSessionConfiguration.ephemeral
                    let storage = HTTPCookieStorage(persistence: CookieDatabase(url: file))
                    storages.append(storage)
                    configuration.httpCookieStorage = storage
                    return configuration
                }
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                var received: [Set<String>] = []
                for identifier in 1...3 {
                    try await program.download(identifier, server.url())
                    let end = try await program.end(of: identifier)
                    let text = try String(contentsOfFile: try #require(end.file), encoding: .utf8)
                    received.append(Set(text.components(separatedBy: "; ")))
                    try await storages.snapshot.last?.flush()
                    guard identifier == 2 else { continue }
                    let others = HTTPCookieStorage(persistence: CookieDatabase(url: file))
                    let host = try #require(URL(string: server.url())?.host)
                    others.setCookie(
                        try #require(
                            HTTPCookie(properties: [
                                .name: "others", .value: "1", .domain: host, .path: "/", .version: "1",
                                .maximumAge: "1000",
                            ])))
                    try await others.flush()
                }
                #expect(received == [["-"], ["session=1", "kept=1"], ["session=1", "kept=1", "others=1"]])
                #expect(storages.snapshot.count == 1)
            }
        }

        @Test("a transfer that begins after the program learned that a host requires https uses it")
        func learnedHost() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let server = try LoopbackServer { _ in .text("hello") }
                defer { server.stop() }
                let file = harness.folder.file("StrictTransport.sqlite")
                harness.makeConfiguration.value = {
                    let configuration = URLSessionConfiguration.ephemeral
                    configuration.settings.hsts = HSTSStore(persistence: HSTSDatabase(url: file))
                    return configuration
                }
                harness.randomness.value = 1
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                let url = server.url(host: "localhost")
                try await program.download(1, url)
                #expect(try await program.end(of: 1).error == nil)
                let others = HSTSStore(persistence: HSTSDatabase(url: file))
                others.note("max-age=1000", from: "localhost")
                await withCheckedContinuation { done in others.flush { done.resume() } }
                try await program.download(2, url)
                // A request in the clear would use the first connection, which is still open.
                await server.openings.count(reaches: 2)
                #expect(server.requests.count == 1)
            }
        }

        @Test("a flush leaves the program's stores on disk, a reset empties them")
        func flushAndReset() async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let stores = StoresOnDisk(folder: harness.folder.file("stores"))
                harness.makeConfiguration.value = { stores.configuration() }
                let settings = stores.configuration().settings
                settings.credentialStorage?.set(
                    URLCredential(user: "u", password: "p", persistence: .permanent), for: StoresOnDisk.space)
                settings.httpCookieStorage?.setCookie(
                    try #require(
                        HTTPCookie(properties: [
                            .name: "n", .value: "v", .domain: "h.example", .path: "/", .version: "1",
                            .maximumAge: "1000",
                        ])))
                settings.hsts.note("max-age=1000", from: "h.example")
                await StoresOnDisk.flush(settings)
                let service = try harness.start()
                defer { service.stop() }
                let program = TestProgram(service, try harness.description())
                try await program.perform(.flush)
                #expect(stores.openedCount == 1, "no session was made to write nothing")
                await stores.flush()
                #expect(stores.contents == ["u", "n", "h.example"])
                try await program.perform(.reset)
                await stores.flush()
                #expect(stores.contents == [])
            }
        }

        /// A program's stores on disk, as each process opens them.
        private final class StoresOnDisk: Sendable {
            static let space = URLProtectionSpace(
                host: "h.example", port: 80, protocol: "http", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)

            private let folder: URL
            private let opened = Recorder<SessionSettings>()

            init(folder: URL) { self.folder = folder }

            var openedCount: Int { opened.snapshot.count }

            /// Opens them anew.
            func configuration() -> URLSessionConfiguration {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.httpCookieStorage = HTTPCookieStorage(
                    persistence: CookieDatabase(url: folder.appendingPathComponent("Cookies.sqlite")))
                configuration.urlCredentialStorage = URLCredentialStorage(CredentialDatabase(folder: folder))
                configuration.settings.hsts = HSTSStore(
                    persistence: HSTSDatabase(url: folder.appendingPathComponent("HSTS.sqlite")))
                opened.append(configuration.settings)
                return configuration
            }

            static func flush(_ settings: SessionSettings) async {
                try? await settings.httpCookieStorage?.flush()
                await withCheckedContinuation { done in
                    settings.credentialStorage?.flush { settings.hsts.flush { done.resume() } }
                }
            }

            /// Waits until all that was changed is on disk.
            func flush() async { for settings in opened.snapshot { await Self.flush(settings) } }

            /// What another process finds there: users, names of cookies, and hosts.
            var contents: [String] {
                let settings = configuration().settings
                let users = settings.credentialStorage?.credentials(for: Self.space)?.keys.sorted() ?? []
                let cookies = settings.httpCookieStorage?.cookies?.map(\.name) ?? []
                return users + cookies
                    + (settings.hsts.requiresSecureConnection(to: "h.example") ? ["h.example"] : [])
            }
        }
    }
#endif
