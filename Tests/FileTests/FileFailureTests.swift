import Foundation
import LoadingKit
import TestSupport
import Testing

/// Files that cannot be loaded: an error of Apple's code, in plain words.
@Suite struct FileFailureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func missing() async throws {
        let file = try folder.write("hello", to: "file")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("dangling").path, withDestinationPath: "nothing there")
        for path in [folder.file("missing").path, file.path + "/below", file.path + "/", folder.file("dangling").path] {
            let (code, words) = await Loading.failure(URL(fileURLWithPath: path, isDirectory: path.hasSuffix("/")))
            #expect(code == .fileDoesNotExist && words.hasPrefix("\(path) does not exist: "), "\(path): \(words)")
        }
    }

    @Test func directories() async throws {
        for path in [folder.path, folder.path + "/", "/"] {
            let (code, words) = await Loading.failure(URL(fileURLWithPath: path, isDirectory: path.hasSuffix("/")))
            #expect(code == .fileIsDirectory && words == "\(path) is a directory")
        }
    }

    /// They would block, or never end.
    @Test func whatIsNoRegularFile() async throws {
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        for path in [pipe.path, "/dev/null", "/dev/zero"] {
            let (code, words) = await Loading.failure(URL(fileURLWithPath: path))
            #expect(code == .noPermissionsToReadFile)
            #expect(words == "\(path) is a device, pipe or socket, not a regular file")
        }
    }

    @Test func linksInACircle() async throws {
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "link")
        let (code, words) = await Loading.failure(link)
        #expect(code == .noPermissionsToReadFile && words.hasPrefix("\(link.path) may not be read: "))
    }

    @Test(.enabled("root may read every file; OpenFileTests has the error") { geteuid() != 0 })
    func unreadable() async throws {
        let file = try folder.write("hello", to: "file")
        #expect(chmod(file.path, 0) == 0)
        let (code, words) = await Loading.failure(file)
        #expect(code == .noPermissionsToReadFile && words.hasPrefix("\(file.path) may not be read: "))
    }

    @Test func aNameThatIsTooLong() async throws {
        let (code, words) = await Loading.failure(folder.file(String(repeating: "n", count: 300)))
        #expect(code == .cannotOpenFile && words.contains(" cannot be opened: "))
    }

    /// It can be opened, but nothing is at its beginning.
    @Test func aFileThatFailsToBeRead() async throws {
        let (code, words) = await Loading.failure(URL(fileURLWithPath: "/proc/self/mem"))
        #expect(code == .cannotOpenFile && words.hasPrefix("/proc/self/mem cannot be read: "))
    }

    @Test func urlsThatNameNoFileHere() async throws {
        let cases = [
            ("file://other.example/etc/hostname", "the URL names a file on another host, other.example"),
            ("file://127.0.0.1/etc/hostname", "the URL names a file on another host, 127.0.0.1"),
            ("file:///etc/host%00name", "the path has a NUL byte in it"),
            ("file:///%00", "the path has a NUL byte in it"),
            ("file:///%ff", "the path is not text in UTF-8"),
            ("file:relative", "the URL has no absolute path"),
            ("file:", "the URL has no absolute path"),
            ("file://localhost", "the URL has no absolute path"),
        ]
        for (text, reason) in cases {
            let (code, words) = await Loading.failure(try #require(URL(string: text)))
            #expect(code == .badURL && words == reason, "\(text)")
        }
    }

    @Test func methods() async throws {
        let file = try folder.write("hello", to: "file")
        for method in ["POST", "PUT", "DELETE"] {
            let (code, words) = await Loading.failure(file, method: method)
            #expect(code == .unsupportedURL && words == "a file can be loaded with GET or HEAD, not \(method)")
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == "hello")
    }
}
