import Foundation
import LoadingKit
import TestSupport
import Testing

/// Files through a session.
@Suite struct FileTests {
    private let session = URLSession(configuration: .ephemeral)

    private func load(_ url: URL, range: String? = nil, method: String = "GET") async throws -> (String, URLResponse) {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue(range, forHTTPHeaderField: "Range")
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), response)
    }

    private func code(_ url: URL, range: String? = nil, method: String = "GET") async -> URLError.Code? {
        do {
            _ = try await load(url, range: range, method: method)
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    @Test func wholeFilesAndTheirTypes() async throws {
        let folder = try TemporaryFolder()
        let files = [
            ("a.html", "<p>", "text/html"), ("b.JSON", "{}", "application/json"),
            ("c", "x", "application/octet-stream"),
            ("empty.txt", "", "text/plain"), ("ä b%.txt", "name", "text/plain"),
        ]
        for (name, content, type) in files {
            let (text, response) = try await load(folder.write(content, to: name))
            #expect(text == content && response.mimeType == type, "\(name)")
            #expect(response.expectedContentLength == Int64(content.utf8.count), "\(name)")
        }
        let (text, response) = try await load(folder.file("a.html"), method: "HEAD")
        #expect(text.isEmpty && response.expectedContentLength == 3)
        try FileManager.default.createSymbolicLink(
            at: folder.file("link.txt"), withDestinationURL: folder.file("a.html"))
        #expect(try await load(folder.file("link.txt")).0 == "<p>")
        let local = try #require(URL(string: "file://LOCALHOST\(folder.file("a.html").path)"))
        #expect(try await load(local).0 == "<p>")
    }

    @Test func ranges() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("0123456789", to: "a.txt")
        let parts: [(String, String)] = [
            ("bytes=2-4", "234"), ("bytes=7-", "789"), ("bytes=-3", "789"), ("bytes=-99", "0123456789"),
            ("bytes=0-99", "0123456789"), ("bytes=9-9", "9"), ("Bytes=0-0", "0"),
            ("bytes=0-99999999999999999999", "0123456789"),
            // Malformed, or of several ranges: ignored.
            ("bytes=4-2", "0123456789"), ("bytes=a-b", "0123456789"), ("bytes=-", "0123456789"),
            ("bytes=0-1,3-4", "0123456789"), ("lines=1-2", "0123456789"), ("bytes=+1-2", "0123456789"),
        ]
        for (range, expected) in parts {
            let (text, response) = try await load(file, range: range)
            #expect(text == expected, "\(range)")
            #expect(response.expectedContentLength == Int64(expected.utf8.count), "\(range)")
        }
        for range in ["bytes=10-", "bytes=99-100", "bytes=-0", "bytes=99999999999999999999-"] {
            #expect(await code(file, range: range) != nil, "\(range)")
        }
    }

    @Test func whatCannotBeRead() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("x", to: "a")
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let loop = folder.file("loop")
        try FileManager.default.createSymbolicLink(at: loop, withDestinationURL: loop)
        let elsewhere = try #require(URL(string: "file://example.test/etc/passwd"))
        let withNUL = try #require(URL(string: "file:///etc/pass%00wd"))
        let notText = try #require(URL(string: "file:///%FF"))
        let cases: [(URL, URLError.Code)] = [
            (folder.file("missing"), .fileDoesNotExist), (file.appendingPathComponent("under"), .fileDoesNotExist),
            (folder.url, .fileIsDirectory), (pipe, .noPermissionsToReadFile),
            (URL(fileURLWithPath: "/dev/zero"), .noPermissionsToReadFile), (loop, .noPermissionsToReadFile),
            (elsewhere, .badURL), (withNUL, .badURL), (notText, .badURL),
        ]
        for (url, expected) in cases { #expect(await code(url) == expected, "\(url)") }
        #expect(await code(file, method: "PUT") == .unsupportedURL)
        // Permissions do not bind root, who runs these tests in containers.
        guard geteuid() != 0 else { return }
        chmod(file.path, 0)
        #expect(await code(file) == .noPermissionsToReadFile)
    }

    /// Files of `/proc` say that they are empty.
    @Test func aFileThatKnowsNoSize() async throws {
        let (text, response) = try await load(URL(fileURLWithPath: "/proc/self/status"))
        #expect(text.contains("VmRSS:") && response.expectedContentLength == -1)
    }

    @Test func aLongFileComesInPieces() async throws {
        let folder = try TemporaryFolder()
        let body = [UInt8](repeating: 7, count: 5_000_000)
        let file = try folder.write(body, to: "long")
        let (bytes, _) = try await session.bytes(from: file)
        var (pieces, total, largest) = (0, 0, 0)
        for try await piece in bytes.chunks {
            pieces += 1
            total += piece.count
            largest = max(largest, piece.count)
        }
        #expect(total == body.count && pieces > 10 && largest <= 1 << 20)
    }

    @Test func aFileThatShrinksIsAnError() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write([UInt8](repeating: 7, count: 20_000_000), to: "long")
        try await withTimeout {
            let (bytes, response) = try await session.bytes(from: file)
            #expect(response.expectedContentLength == 20_000_000)
            // What is read ahead is bounded, so the end is not read yet.
            #expect(truncate(file.path, 10) == 0)
            await #expect(throws: URLError.self) { for try await _ in bytes.chunks {} }
        }
    }

    @Test func aLoadThatIsLetGoEnds() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write([UInt8](repeating: 7, count: 20_000_000), to: "long")
        try await withTimeout {
            let task = Task {
                for try await _ in try await session.bytes(from: file).0 { throw CancellationError() }
            }
            _ = await task.result
            while await !session.allTasks.isEmpty { await Task.yield() }
        }
    }
}
