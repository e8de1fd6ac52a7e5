import Foundation
import TestSupport
import Testing

/// A reader who follows a tutorial literally has the package that is compiled and tested here, to the letter.
@Suite struct TutorialTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Pages, and the packages that come of them.
    static let tutorials = [("WriteAScheme", "MemScheme"), ("WriteAnInterceptor", "Interceptors")]

    private static func page(_ name: String) throws -> TutorialPage {
        let catalogue = root.appendingPathComponent("Sources/LoadingKit/LoadingKit/LoadingKit.docc")
        let text = try String(contentsOf: catalogue.appendingPathComponent("\(name).md"), encoding: .utf8)
        return try TutorialPage(text)
    }

    /// The texts of all files in a folder, by their paths in it.
    private static func files(in folder: URL) throws -> [String: String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        let files = paths.filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(
                atPath: folder.appendingPathComponent(path).path, isDirectory: &isFolder) && !isFolder.boolValue
        }
        return try Dictionary(
            uniqueKeysWithValues: files.map { path in
                (path, try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8))
            })
    }

    @Test(arguments: tutorials) func thePageMakesThePackage(_ name: String, _ package: String) throws {
        let followed = try Self.page(name).files
        let compiled = try Self.files(in: Self.root.appendingPathComponent("Tests/Tutorials/\(package)"))
        #expect(followed.keys.sorted() == compiled.keys.sorted())
        for (path, text) in compiled { #expect(followed[path] == text, "\(path)") }
    }

    /// What is typed into a shell is what makes the folder, and tests.
    @Test(arguments: tutorials) func theCommands(_ name: String, _ package: String) throws {
        let commands = try Self.page(name).commands
        let preparation = ["mkdir \(package) && cd \(package)", "export SWIFT_DETERMINISTIC_HASHING=1"]
        #expect(commands.starts(with: preparation) && commands.count > preparation.count)
        #expect(commands.dropFirst(preparation.count).allSatisfy { $0 == "swift test" })
    }

    /// The manifests are Swift that no target here compiles.
    @Test(.timeLimit(.minutes(5)), arguments: tutorials)
    func theManifestIsValid(_ name: String, _ package: String) async throws {
        let manifest = try #require(try Self.page(name).files["Package.swift"])
        let dump = try await PackageDump(manifest)
        #expect(dump.name == package)
        #expect(dump.targets == [package, "\(package)Tests"])
    }

    /// What is wrong with a page is found.
    @Test(arguments: [
        ("x\n```swift\n1\n```", "line 2: \"x\" does not say where the block goes"),
        ("`a`:\n```c\n1\n```", "line 2: a block is of swift or sh, and not of \"c\""),
        ("`a`:\n```swift\n1", "line 2: the block has no end"),
        ("`a`:\n```swift\n1\n```\n`a`:\n```swift\n1\n```", "line 6: a is made a second time"),
        ("`a`, above `b`:\n```swift\n1\n```", "line 2: there is no a yet"),
        ("`a`:\n```swift\n1\n```\n`a`, above `b`:\n```swift\n2\n```", "line 6: 0 lines of a begin with b"),
        ("`a`:\n```swift\n1\n1\n```\n`a`, above `1`:\n```swift\n2\n```", "line 7: 2 lines of a begin with 1"),
    ])
    func problems(_ page: String, _ expected: String) {
        let problem = #expect(throws: TutorialPage.Problem.self) { try TutorialPage(page) }
        #expect(problem?.description == expected)
    }

    @Test func blocksAreFollowed() throws {
        let page = try TutorialPage(
            """
            `a`:

            ```swift
            one
              three
            ```

            ```sh
            swift test
            ```

            `a`, above `three`:

            ```swift
              two
            ```
            """)
        #expect(page.files == ["a": "one\n  two\n  three\n"])
        #expect(page.commands == ["swift test"])
    }
}
