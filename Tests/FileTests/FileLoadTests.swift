import Foundation
import LoadingKit
import TestSupport
import Testing

/// Files that are there, loaded whole.
@Suite struct FileLoadTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func typesByExtension() async throws {
        let types = [
            ("a.txt", "text/plain"), ("a.HTML", "text/html"), ("a.json", "application/json"), ("a.png", "image/png"),
            ("a.tar.gz", "application/gzip"), ("a b.css", "text/css"), ("a", "application/octet-stream"),
            ("a.unheard-of", "application/octet-stream"),
        ]
        for (name, type) in types {
            let file = try folder.write("hello", to: name)
            let (data, response) = try await Loading.load(file)
            #expect(String(decoding: data, as: UTF8.self) == "hello")
            #expect(response.mimeType == type && response.suggestedFilename == name, "\(name)")
            #expect(response.expectedContentLength == 5 && response.url == file && response.textEncodingName == nil)
            #expect(!(response is HTTPURLResponse))
        }
        let hidden = try await Loading.load(try folder.write("hello", to: ".txt")).response
        #expect(hidden.mimeType == "application/octet-stream" && hidden.suggestedFilename?.hasPrefix(".") == false)
        for (name, _) in types { try await Loading.waitUntilClosed(folder.file(name)) }
    }

    /// Around the size of the pieces that are read.
    @Test(arguments: [0, 1, 262_143, 262_144, 262_145, 1_000_000]) func sizes(_ size: Int) async throws {
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let (data, response) = try await Loading.load(try folder.write(bytes, to: "file"))
        #expect(data == bytes && response.expectedContentLength == Int64(size))
    }

    @Test func headGivesTheResponseAlone() async throws {
        let file = try folder.write("hello", to: "a.txt")
        for (url, range, length) in [(file, nil, 5), (file, "bytes=1-3", 3)] as [(URL, String?, Int64)] {
            let (data, response) = try await Loading.load(url, range: range, method: "HEAD")
            #expect(data.isEmpty && response.expectedContentLength == length && response.mimeType == "text/plain")
        }
        let (data, response) = try await Loading.load(URL(fileURLWithPath: "/proc/self/status"), method: "HEAD")
        #expect(data.isEmpty && response.expectedContentLength == -1)
    }

    /// The system gives their size as 0.
    @Test func filesOfProcAreReadToTheirEnd() async throws {
        let (data, response) = try await Loading.load(URL(fileURLWithPath: "/proc/self/status"))
        #expect(String(decoding: data, as: UTF8.self).contains("VmRSS:") && response.expectedContentLength == -1)
        let text = try await Loading.text(URL(fileURLWithPath: "/proc/version"))
        #expect(text == (try String(contentsOfFile: "/proc/version", encoding: .utf8)) && !text.isEmpty)
    }

    private static let sysFile = "/sys/kernel/mm/ksm/run"

    /// The system gives their size as 4096.
    @Test(.enabled("this kernel has no file \(sysFile)") { FileManager.default.isReadableFile(atPath: sysFile) })
    func filesOfSysAreReadToTheirEnd() async throws {
        let (data, response) = try await Loading.load(URL(fileURLWithPath: Self.sysFile))
        #expect((1..<10).contains(data.count) && response.expectedContentLength == -1)
    }

    @Test func names() async throws {
        let names = [
            "a b", "100%", "%41", "a#b", "a?b=c", "é", "e\u{301}", "\u{1F600}", "a;b", "a:b", "~", "\"'<>", "a\\b",
            "a\nb",
        ]
        for name in names {
            try folder.write(name, to: "x/\(name)")
            #expect(try await Loading.text(folder.file("x/\(name)")) == name)
        }
        try folder.write("A", to: "A")
        let base = folder.url.absoluteString
        for text in ["\(base)%41", "\(base)x/../A", "\(base)./A", "\(base)/A", "\(base)A?query#fragment"] {
            #expect(try await Loading.text(try #require(URL(string: text))) == "A", "\(text)")
        }
        let relative = try #require(URL(string: "A", relativeTo: folder.url))
        #expect(try await Loading.load(relative).data == Data("A".utf8))
    }

    @Test func thisMachineByName() async throws {
        let path = try folder.write("hello", to: "a").path
        for host in ["", "localhost", "LocalHost"] {
            #expect(try await Loading.text(try #require(URL(string: "file://\(host)\(path)"))) == "hello")
        }
        for text in ["FILE://\(path)", "file:\(path)"] {
            #expect(try await Loading.text(try #require(URL(string: text))) == "hello")
        }
    }

    @Test func symbolicLinksAreFollowed() async throws {
        try folder.write("hello", to: "a.txt")
        let link = folder.file("link.html")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "a.txt")
        let (data, response) = try await Loading.load(link)
        #expect(data == Data("hello".utf8) && response.mimeType == "text/html")
    }

    @Test func manyAtATime() async throws {
        let files = try (0..<100).map { try folder.write("file \($0)", to: "\($0)") }
        let texts = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for (index, file) in files.enumerated() { group.addTask { (index, try await Loading.text(file)) } }
            return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        #expect(texts.count == 100 && texts.allSatisfy { $1 == "file \($0)" })
        try await Loading.waitUntilClosed(folder.url)
    }
}
