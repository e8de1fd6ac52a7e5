import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// Each program of `Examples`, run against a server.
@Suite(.timeLimit(.minutes(5))) struct ExamplesTests {
    private static func run(
        _ example: String, _ arguments: String..., folder: TemporaryFolder? = nil, environment: [String: String] = [:]
    ) async throws -> ProgramRun {
        try await ProgramRun("\(example)Example", arguments, folder: folder, environment: environment)
    }

    @Test func fetch() async throws {
        let server = try LoopbackServer { request in
            request.path == "/missing"
                ? .text("nothing here\n", status: 404) : .text((1...5).map { "line \($0)\n" }.joined())
        }
        defer { server.stop() }
        let found = try await Self.run("Fetch", server.url("/"))
        #expect(found.text == "200, text/plain, 35 bytes\n> line 1\n> line 2\n> line 3\n" && found.status == 0)
        let missing = try await Self.run("Fetch", server.url("/missing"))
        #expect(missing.text == "404, text/plain, 13 bytes\n> nothing here\n" && missing.status == 0)
        server.stop()
        let unreachable = try await Self.run("Fetch", server.url("/"))
        #expect(unreachable.text.hasPrefix("failed: ") && unreachable.status == 1)
        #expect(server.requests.snapshot.first?.fields[.accept] == "text/html, text/plain")
    }

    @Test func uploadForm() async throws {
        let server = try LoopbackServer { .text("\($0.bodyText.contains("filename=\"x.txt\""))") }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("x.txt")
        try Data("hello".utf8).write(to: file)
        let sent = try await Self.run("UploadForm", server.url("/"), file.path, "A title")
        #expect(sent.text == "200: true\n" && sent.status == 0)
        let missing = try await Self.run("UploadForm", server.url("/"), file.path + "x", "A title")
        #expect(missing.text.hasPrefix("failed: ") && missing.status == 1)
    }

    /// The server breaks the connection after an event, and has no more when the program comes back.
    @Test func followEvents() async throws {
        let server = try LoopbackServer { request in
            request.fields[name: "Last-Event-ID"] == nil
                ? .bytes(Array("retry: 1\nid: 1\nevent: add\ndata: one\n\n".utf8), type: "text/event-stream")
                : ServerResponse(204)
        }
        defer { server.stop() }
        let run = try await Self.run("FollowEvents", server.url("/"))
        #expect(run.text == "add 1: one\nno more events\n" && run.status == 0)
    }

    @Test func readArchive() async throws {
        let folder = try TemporaryFolder()
        let program = "import zipfile\nwith zipfile.ZipFile('a.zip', 'w') as a: a.writestr('b.txt', 'hello\\n')"
        let python = try ChildProcess("/usr/bin/env", ["python3", "-c", program], folder: folder.path)
        #expect(try await onThread { python.waitForExit() } == 0)
        let archive = folder.file("a.zip").absoluteString
        #expect(try await Self.run("ReadArchive", archive, "b.txt").text == "hello\n")
        #expect(try await Self.run("ReadArchive", archive).text.hasSuffix(" b.txt\n"))
        let missing = try await Self.run("ReadArchive", archive, "c.txt")
        #expect(missing.text == "failed: the archive has no member c.txt\n" && missing.status == 1)
    }

    /// The server sends the second half when the client has closed the connection, so that what cancels has the first alone.
    @Test func progressAndCancel() async throws {
        let half = [UInt8](repeating: 0, count: 1_000)
        let server = try LoopbackServer { request in
            .stream(.length(2_000)) { body in
                try body.write(half)
                if request.path == "/half" { try body.waitUntilClientCloses() }
                try body.write(half)
            }
        }
        defer { server.stop() }
        let cancelled = try await Self.run("ProgressAndCancel", server.url("/half"), "1000")
        #expect(cancelled.text.hasSuffix("50 %\ncancelled\n") && cancelled.status == 0)
        let whole = try await Self.run("ProgressAndCancel", server.url("/whole"), "3000")
        #expect(whole.text.hasSuffix("100 %\ncomplete\n"))
    }

    @Test func resumableDownload() async throws {
        let content = (0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try LoopbackServer { request in
            let start = request.fields[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let rest = Array(content[start...])
            // The first two connections break after 1,000 bytes.
            var response = ServerResponse.stream(.length(UInt64(rest.count))) { body in
                try body.write(Array(rest.prefix(1_000)))
                if start < 2_000 { throw CancellationError() }
            }
            if start > 0 {
                response.status = 206
                response = response.adding("Content-Range", "bytes \(start)-2999/3000")
            }
            return response.adding("ETag", "\"one\"")
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let run = try await Self.run("ResumableDownload", server.url("/"), "file", folder: folder)
        #expect(
            run.text == """
                attempt 1: connection lost
                attempt 2: connection lost
                resumed with status 206

                """)
        #expect(try Data(contentsOf: folder.file("file")) == Data(content))
        #expect(server.requests.snapshot.map { $0.fields[.range] } == [nil, "bytes=1000-", "bytes=2000-"])
    }

    @Test func streamedUpload() async throws {
        let server = try LoopbackServer { request in
            let lines = request.bodyText.split(separator: "\n")
            let coding = request.fields[.transferEncoding] ?? "none"
            return .text("\(request.method), \(coding), \(lines.count) lines, \(lines.last ?? "")")
        }
        defer { server.stop() }
        let run = try await Self.run("StreamedUpload", server.url("/"), "20000")
        #expect(run.text == "POST, chunked, 20000 lines, line 19999\n")
        // A 307 has the body sent again, from a stream that the delegate gives.
        let moved = try LoopbackServer { request in
            request.path == "/old" ? .redirect(to: "/new", status: 307) : .text("\(request.bodyLength) bytes")
        }
        defer { moved.stop() }
        #expect(try await Self.run("StreamedUpload", moved.url("/old"), "3").text == "21 bytes\n")
    }

    @Test func webSocketEcho() async throws {
        let server = try LoopbackServer { request in .webSocket(request) { try $0.echo() } }
        defer { server.stop() }
        let url = server.url("/").replacing("http:", with: "ws:")
        let run = try await Self.run("WebSocketEcho", url, "hello", "again")
        #expect(run.text == "hello\nagain\nclosed with code 1000\n" && run.status == 0)
    }

    @Test func customScheme() async throws {
        let run = try await Self.run(
            "CustomScheme", "environment:GREETING", "environment:NOT_SET", environment: ["GREETING": "good morning"])
        let lines = run.text.split(separator: "\n")
        #expect(lines.first == "environment:GREETING: good morning (text/plain)")
        #expect(lines.last?.hasPrefix("environment:NOT_SET: failed: ") == true && lines.count == 2)
    }

    @Test func interceptor() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let run = try await Self.run("Interceptor", server.url("/a"), server.url("/b"))
        let identifiers = server.requests.snapshot.compactMap { $0.fields[name: "X-Request-ID"] }
        try #require(Set(identifiers).count == 2)
        #expect(run.text == "GET /a \(identifiers[0]): 200\n5 bytes\nGET /b \(identifiers[1]): 200\n5 bytes\n")
    }

    @Test func certificatePinning() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: try authority.issue()) { _ in .text("secret") }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let trusted = ["SSL_CERT_FILE": try folder.write(authority.certificatePEM, to: "authority.pem").path]
        let pin = try X509Certificate(pemRepresentation: authority.certificatePEM).publicKeySHA256.base64EncodedString()
        let url = server.url("/", host: "localhost")
        let pinned = try await Self.run("CertificatePinning", url, pin, environment: trusted)
        #expect(pinned.text == "pinned: 6 bytes\n" && pinned.status == 0)
        let other = Data(count: 32).base64EncodedString()
        let refused = try await Self.run("CertificatePinning", url, other, environment: trusted)
        #expect(refused.text.hasPrefix("refused: ") && refused.status == 1)
        // A pin is no substitute for a trusted authority.
        let untrusted = try await Self.run("CertificatePinning", url, pin)
        #expect(untrusted.text.hasPrefix("failed: ") && untrusted.status == 1)
        #expect(server.requests.snapshot.count == 1)
    }

    @Test func cookiesAndCache() async throws {
        let server = try LoopbackServer { request in
            let visits = request.fields[name: "Cookie"] == nil ? "one" : "many"
            return .text(visits).adding("Cache-Control", "max-age=60").adding("Set-Cookie", "visits=\(visits)")
        }
        defer { server.stop() }
        let run = try await Self.run("CookiesAndCache", server.url("/"))
        #expect(
            run.text == """
                3 bytes from the network
                3 bytes from the cache
                4 bytes from the network
                cookie visits=many, for this session

                """)
        #expect(server.requests.snapshot.count == 2)
    }

    /// One test, one line of the table, and from 20 to 80 lines for each program's first file.
    @Test func thePageListsThePrograms() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let examples = root.appendingPathComponent("Examples")
        let names = try FileManager.default.contentsOfDirectory(atPath: examples.path).filter { !$0.contains(".") }
        let page = try String(contentsOf: examples.appendingPathComponent("README.md"), encoding: .utf8)
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let tests = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        #expect(!names.isEmpty)
        for name in names {
            #expect(page.contains("| [`\(name)Example`](\(name)/\(name).swift) |"), "\(name)")
            #expect(tests.contains("\"\(name)\",") || tests.contains("\"\(name)Example\""), "\(name)")
            let source = try String(
                contentsOf: examples.appendingPathComponent("\(name)/\(name).swift"), encoding: .utf8)
            #expect((20...85).contains(source.split(separator: "\n", omittingEmptySubsequences: false).count - 1))
        }
    }
}
