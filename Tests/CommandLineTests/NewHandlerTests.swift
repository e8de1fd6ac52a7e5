import Foundation
import LoadingKit
import TestSupport
import Testing

@testable import loadkit

/// `loadkit new-handler`: its arguments, and the package that it writes.
@Suite struct NewHandlerTests {
    // MARK: Names

    @Test func names() throws {
        let rows: [(name: String, scheme: String?, expected: [String])] = [
            ("Mem", nil, ["Mem", "mem", "MemHandler", "MemScheme", "MemSchemeError", "MemSchemeTests"]),
            ("my-notes", nil, ["MyNotes", "my-notes", "MyNotesHandler", "MyNotesScheme"]),
            ("my-scheme", nil, ["MyScheme", "my-scheme", "MySchemeHandler", "MyScheme", "MySchemeError"]),
            ("MemHandler", nil, ["Mem", "mem", "MemHandler", "MemScheme"]),
            ("mem-handler", nil, ["Mem", "mem", "MemHandler", "MemScheme"]),
            ("Handler", nil, ["Handler", "handler", "HandlerHandler", "HandlerScheme"]),
            ("two_words", nil, ["TwoWords", "two-words", "TwoWordsHandler"]),
            ("a.b+c-9", nil, ["ABC9", "a.b+c-9", "ABC9Handler"]),
            ("class", nil, ["Class", "class", "ClassHandler"]),
            ("Mem", "X-Mem", ["Mem", "x-mem", "MemHandler"]),
            ("x", nil, ["X", "x", "XHandler", "XScheme"]),
            (String(repeating: "a", count: 32), nil, ["A" + String(repeating: "a", count: 31)]),
        ]
        var wrong: [String] = []
        for row in rows {
            let names = try HandlerNames(row.name, scheme: row.scheme)
            let all = [names.stem, names.scheme, names.handler, names.module, names.error, names.tests]
            if !all.starts(with: row.expected) { wrong.append("\(row.name): \(all)") }
        }
        #expect(wrong == [])
    }

    @Test func refusedNames() {
        let rows: [(name: String, scheme: String?, reason: String)] = [
            ("", nil, "is no name"), ("9lives", nil, "is no name"), ("-x", nil, "is no name"),
            ("a b", nil, "is no name"), ("a/b", nil, "is no name"), ("../x", nil, "is no name"),
            ("naïve", nil, "is no name"), ("a\"b", nil, "is no name"), ("a\u{0}", nil, "is no name"),
            (String(repeating: "a", count: 33), nil, "more than 32"),
            ("Mem", "", "no URL scheme"), ("Mem", "9p", "no URL scheme"), ("Mem", "a_b", "no URL scheme"),
            ("Mem", "a:b", "no URL scheme"), ("Mem", "é", "no URL scheme"),
            ("Mem", String(repeating: "a", count: 33), "more than 32"),
            ("http", nil, "loads http: itself"), ("Mem", "HTTPS", "loads https: itself"),
            ("Mem", "file", "loads file: itself"), ("URLProtocol", nil, "has a URLProtocolHandler already"),
            ("File", "files", "has a FileHandler already"), ("Stub", nil, "has a StubHandler already"),
        ]
        var wrong: [String] = []
        for row in rows {
            do {
                _ = try HandlerNames(row.name, scheme: row.scheme)
                wrong.append("\(row.name): taken")
            } catch {
                if error.status != .usage || error.reason?.contains(row.reason) != true {
                    wrong.append("\(row.name): \(error.line)")
                }
            }
        }
        #expect(wrong == [])
    }

    /// The list of built-in schemes equals the schemes that the built-in handlers load.
    @Test func builtInSchemes() throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        func isLoaded(_ scheme: String) throws -> Bool {
            let url = try #require(URL(string: "\(scheme)://host/"))
            return session.registry.explain(URLRequest(url: url)).handler != nil
        }
        let candidates = HandlerNames.builtInSchemes.union(["about", "blob", "ftp", "ftps", "mailto", "mem"])
        #expect(try candidates.filter(isLoaded) == HandlerNames.builtInSchemes)
    }

    // MARK: LoadingKit's source

    @Test func sources() throws {
        let folder = try TemporaryFolder()
        try folder.write("let package = Package(\n    name: \"LoadingKit\"", to: "Kit/Package.swift")
        try folder.write("", to: "Kit/.build/debug/loadkit")
        let kit = folder.file("Kit").path
        let rows: [(place: String?, version: String?, expected: LoadingKitSource, identity: String)] = [
            (nil, nil, .folder(path: "/checkout"), "checkout"),
            (kit, nil, .folder(path: kit), "Kit"), (kit + "/./../Kit/", nil, .folder(path: kit), "Kit"),
            (
                "https://example.org/a/LoadingKit.git", nil,
                .repository(url: "https://example.org/a/LoadingKit.git", .branch("main")), "LoadingKit"
            ),
            (
                "https://example.org/kit/", "1.2.0-beta.1",
                .repository(url: "https://example.org/kit/", .from("1.2.0-beta.1")), "kit"
            ),
            (
                "git@example.org:a/LoadingKit.git", "0.1.0",
                .repository(url: "git@example.org:a/LoadingKit.git", .from("0.1.0")), "LoadingKit"
            ),
        ]
        for row in rows {
            let source = try LoadingKitSource(row.place, version: row.version, checkout: "/checkout")
            #expect(source == row.expected)
            #expect(source.identity == row.identity)
        }
        #expect(LoadingKitSource.checkout(around: folder.file("Kit/.build/debug/loadkit").path) == kit)
        #expect(LoadingKitSource.checkout(around: folder.file("loadkit").path) == nil)
    }

    @Test func refusedSources() throws {
        let folder = try TemporaryFolder()
        try folder.write("let package = Package(name: \"Other\")", to: "Package.swift")
        let url = "https://example.org/LoadingKit"
        let rows: [(place: String?, version: String?, reason: String)] = [
            (nil, nil, "has to say where LoadingKit is"), (nil, "1.0.0", "--version is for a repository"),
            (folder.path, nil, "does not hold LoadingKit"), (folder.path, "1.0.0", "--version is for a repository"),
            (folder.file("none").path, nil, "does not hold LoadingKit"), ("", nil, "does not hold LoadingKit"),
            ("gopher://example.org/x", nil, "no URL of a repository"), ("https://exa mple.org/x", nil, "a space"),
            ("https://", nil, "has no name"), ("git@example.org:", nil, "has no name"),
            (url, "1", "no version"), (url, "1.2", "no version"), (url, "v1.2.3", "no version"),
            (url, "1.2.3.4", "no version"), (url, "01.2.3", "no version"), (url, "1.2.3-", "no version"),
            (url, "1.2.3\"", "no version"), (url, "99999999999999999999.0.0", "no version"), (url, "", "no version"),
        ]
        var wrong: [String] = []
        for row in rows {
            do {
                _ = try LoadingKitSource(row.place, version: row.version)
                wrong.append("\(row): taken")
            } catch {
                if error.status != .usage || error.reason?.contains(row.reason) != true {
                    wrong.append("\(row): \(error.line)")
                }
            }
        }
        #expect(wrong == [])
    }

    /// The manifest's values are correct, whatever characters the source's path contains.
    @Test(.timeLimit(.minutes(5))) func manifests() async throws {
        let names = try HandlerNames("my-notes")
        let rows: [(LoadingKitSource, [String])] = [
            (.folder(path: "/a \"b\" \\(c) $d/LoadingKit"), [#""path":"/a \"b\" \\(c) $d/LoadingKit""#]),
            (
                .repository(url: "https://example.org/LoadingKit.git", .branch("main")),
                [#""https://example.org/LoadingKit.git""#, #""branch":["main"]"#]
            ),
            (
                .repository(url: "https://example.org/LoadingKit.git", .from("1.2.0")),
                [#""lowerBound":"1.2.0""#, #""upperBound":"2.0.0""#]
            ),
        ]
        for (source, parts) in rows {
            let manifest = HandlerPackage(names, source).files.first { $0.path == "Package.swift" }
            let dump = try await PackageDump(try #require(manifest).text)
            #expect(dump.name == "MyNotesScheme" && dump.targets == ["MyNotesScheme", "MyNotesSchemeTests"])
            for part in parts { #expect(dump.dependencies.contains(part), "\(dump.dependencies)") }
        }
    }

    // MARK: The package

    private static let generated = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("GeneratedPackage")

    /// The package in `Tests/GeneratedPackage` is compiled and tested as a part of this one. It equals the package that the tool writes.
    ///
    /// After a change of the templates: `LOADINGKIT_WRITE_GENERATED_PACKAGE=1 Scripts/test.sh --filter NewHandlerTests`.
    @Test func theCompiledPackageIsTheWrittenOne() throws {
        let source = LoadingKitSource.repository(url: "https://example.org/LoadingKit.git", .branch("main"))
        let package = HandlerPackage(try HandlerNames("Sample"), source)
        if ProcessInfo.processInfo.environment["LOADINGKIT_WRITE_GENERATED_PACKAGE"] != nil {
            try FileManager.default.removeItem(at: Self.generated)
            try PackageFolder(Self.generated.path).write(package.files)
        }
        let compiled = try FileManager.default.subpathsOfDirectory(atPath: Self.generated.path).filter { path in
            (try? Data(contentsOf: Self.generated.appendingPathComponent(path))) != nil
        }
        #expect(compiled.sorted() == package.files.map(\.path).sorted())
        for file in package.files {
            let text = try String(contentsOf: Self.generated.appendingPathComponent(file.path), encoding: .utf8)
            #expect(text == file.text, "\(file.path)")
        }
    }

    /// Sources are formatted, also where names are long, or sort before or after the other modules.
    @Test(.timeLimit(.minutes(5))) func format() async throws {
        let folder = try TemporaryFolder()
        for name in ["x", "ABC", "my-scheme", "Zz", "M" + String(repeating: "m", count: 31)] {
            let source = try LoadingKitSource("https://example.org/LoadingKit")
            let names = try HandlerNames(name)
            try PackageFolder(folder.file(names.module).path).write(HandlerPackage(names, source).files)
        }
        let configuration = Self.generated.appendingPathComponent("../../.swift-format").standardizedFileURL.path
        let errors = try FileHandle(forWritingTo: folder.write("", to: "errors"))
        let process = try ChildProcess(
            "/usr/bin/env",
            ["swift", "format", "lint", "--strict", "--recursive", "--configuration", configuration, folder.path],
            streams: .init(errors: errors.fileDescriptor))
        let status = try await onThread { process.waitForExit() }
        withExtendedLifetime(errors) {}
        #expect(status == 0)
        #expect(try String(contentsOf: folder.file("errors"), encoding: .utf8) == "")
    }

    // MARK: The tool

    @Test(.timeLimit(.minutes(5))) func writes() async throws {
        let folder = try TemporaryFolder()
        let run = try await ToolRun(
            ["new-handler", "Mem", "--loadingkit", "https://example.org/Kit", "--version", "1.2.0"], folder: folder)
        #expect(run.status == 0 && run.errors.isEmpty)
        let place = folder.file("MemScheme").path
        #expect(run.text.hasPrefix("\(place):\n  .gitignore\n  Package.swift\n"))
        #expect(run.text.hasSuffix("Test it with: swift test --package-path \(place)\n"))
        let source = LoadingKitSource.repository(url: "https://example.org/Kit", .from("1.2.0"))
        for file in HandlerPackage(try HandlerNames("Mem"), source).files {
            #expect(try String(contentsOf: folder.file("MemScheme/\(file.path)"), encoding: .utf8) == file.text)
        }
        // An empty folder, a folder whose parents do not exist, and the repository in which the tool was built.
        try FileManager.default.createDirectory(at: folder.file("empty"), withIntermediateDirectories: false)
        for place in ["empty", "a/b/c"] {
            let run = try await ToolRun(
                ["new-handler", "Mem", "--scheme", "memo", "--folder", place], folder: folder)
            #expect(run.status == 0 && run.errors.isEmpty)
            let manifest = try String(contentsOf: folder.file("\(place)/Package.swift"), encoding: .utf8)
            let checkout = Self.generated.appendingPathComponent("../..").standardizedFileURL.path
            #expect(manifest.contains(".package(path: \"\(checkout)\")"))
            let handler = try String(
                contentsOf: folder.file("\(place)/Sources/MemScheme/MemHandler.swift"), encoding: .utf8)
            #expect(handler.contains("static let scheme = \"memo\""))
        }
    }

    /// Existing files do not change, and no part remains of a package that cannot be written.
    @Test(.timeLimit(.minutes(5))) func overwritesNothing() async throws {
        let folder = try TemporaryFolder()
        try folder.write("mine", to: "taken/notes")
        try folder.write("mine", to: "file")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link").path, withDestinationPath: "nowhere")
        let rows: [(arguments: [String], status: Int32, reason: String)] = [
            (["Mem", "--folder", "taken"], 23, "taken is there"), (["Mem", "--folder", "file"], 23, "file is there"),
            (["Mem", "--folder", "link"], 23, "link is there"),
            (["Mem", "--folder", "file/x"], 23, "cannot be written"), (["Mem", "--folder", ""], 2, "no name"),
            (["Mem", "--folder", "a/kit"], 2, "must not be named Kit"), (["9"], 2, "is no name"),
            (["Mem", "--version", "1"], 2, "no version"), ([], 2, "Missing expected argument"),
            (["Mem", "Other"], 2, "Unexpected argument"),
        ]
        var wrong: [String] = []
        for row in rows {
            let run = try await ToolRun(
                ["new-handler", "--loadingkit", "https://example.org/Kit"] + row.arguments, folder: folder)
            let isOneLine = run.errors.filter { $0 == "\n" }.count == 1
            if run.status != row.status || !run.errors.contains(row.reason) || !isOneLine || !run.output.isEmpty {
                wrong.append("\(row.arguments): \(run.status) \(run.errors)\(run.text)")
            }
        }
        #expect(wrong == [])
        #expect(try folder.contents() == ["file", "link", "taken"])
        #expect(try String(contentsOf: folder.file("taken/notes"), encoding: .utf8) == "mine")
    }

    @Test func partsAreRemoved() throws {
        let folder = try TemporaryFolder()
        let files = [PackageFile(path: "a/b", text: ""), PackageFile(path: "a/b/c", text: "")]
        let destination = try PackageFolder(folder.file("x/y").path)
        let failure = #expect(throws: ToolFailure.self) { try destination.write(files) }
        #expect(failure?.status == .writeError)
        #expect(try folder.contents() == [])
    }

    @Test func shellWords() {
        let rows = [
            ("/a-b_c.d", "/a-b_c.d"), ("", "''"), ("a b", "'a b'"), ("it's $x", "'it'\\''s $x'"),
            // For Swift this is another character than an apostrophe.
            ("'\u{301}$(x)'\u{200D}", "''\\''\u{301}$(x)'\\''\u{200D}'"),
        ]
        for (word, text) in rows { #expect(ShellWord(word).text == text) }
        #expect(ShellWord.quoted("a") == "'a'" && ShellWord.fish("'\u{301}\\\u{301}") == "''\\''\u{301}\\\\\u{301}'")
    }
}
