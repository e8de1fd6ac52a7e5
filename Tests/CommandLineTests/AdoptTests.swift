import Foundation
import TestSupport
import Testing

@testable import loadkit

/// `loadkit adopt`: sources and manifests as texts, and a package in a folder.
@Suite struct AdoptTests {
    // MARK: Sources

    /// Texts before and after. A second run changes nothing.
    static let sources: [(before: String, after: String)] = [
        ("import FoundationNetworking\n", "import LoadingKit\n"),
        (
            "import Foundation\n@preconcurrency import FoundationNetworking // why\n",
            "import Foundation\n@preconcurrency import LoadingKit // why\n"
        ),
        ("@_exported import FoundationNetworking", "@_exported import LoadingKit"),
        ("internal import FoundationNetworking", "internal import LoadingKit"),
        ("@_spi(X) public import FoundationNetworking", "@_spi(X) public import LoadingKit"),
        ("import class FoundationNetworking.URLSession\r\n", "import class LoadingKit.URLSession\r\n"),
        ("// import FoundationNetworking\n", "// import FoundationNetworking\n"),
        ("/* a /* b */\nimport FoundationNetworking\n*/\n", "/* a /* b */\nimport FoundationNetworking\n*/\n"),
        (
            "let x = \"\"\"\nimport FoundationNetworking\n\"\"\"\n",
            "let x = \"\"\"\nimport FoundationNetworking\n\"\"\"\n"
        ),
        ("import FoundationNetworkingExtras\n", "import FoundationNetworkingExtras\n"),
        (
            "#if canImport(FoundationNetworking)\n  import FoundationNetworking\n#endif\n",
            """
            #if os(Linux)
              import LoadingKit
            #elseif canImport(FoundationNetworking)
              import FoundationNetworking
            #endif

            """
        ),
        (
            "#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#else\nimport Foundation\n#endif\n",
            """
            #if os(Linux)
            import LoadingKit
            #elseif canImport(FoundationNetworking)
            import FoundationNetworking
            #else
            import Foundation
            #endif

            """
        ),
        (
            "#if canImport(FoundationNetworking)\n    import FoundationNetworking\n    let x = 1\n#endif\n",
            """
            #if canImport(FoundationNetworking)
                #if os(Linux)
                import LoadingKit
                #else
                import FoundationNetworking
                #endif
                let x = 1
            #endif

            """
        ),
        (
            "#if canImport(FoundationNetworking)\nimport struct FoundationNetworking.A\nimport class FoundationNetworking.B\n#endif\n",
            """
            #if os(Linux)
            import struct LoadingKit.A
            import class LoadingKit.B
            #elseif canImport(FoundationNetworking)
            import struct FoundationNetworking.A
            import class FoundationNetworking.B
            #endif

            """
        ),
        (
            "#if !canImport(Darwin) && canImport(FoundationNetworking)\n public import FoundationNetworking\n import FoundationNetworking\n#endif\n",
            """
            #if !canImport(Darwin) && canImport(FoundationNetworking)
             #if os(Linux)
             public import LoadingKit
             import LoadingKit
             #else
             public import FoundationNetworking
             import FoundationNetworking
             #endif
            #endif

            """
        ),
        ("#if os(Linux)\nimport FoundationNetworking\n#endif\n", "#if os(Linux)\nimport LoadingKit\n#endif\n"),
        (
            "#if !os(Linux)\nimport FoundationNetworking\n#else\nimport FoundationNetworking\n#endif\n",
            "#if !os(Linux)\nimport FoundationNetworking\n#else\nimport LoadingKit\n#endif\n"
        ),
        (
            "#if os(Windows)\nimport FoundationNetworking\n#endif\n",
            "#if os(Windows)\nimport FoundationNetworking\n#endif\n"
        ),
        (
            "import FoundationNetworking\nlet s = FoundationNetworking.URLSession.shared\n",
            "import LoadingKit\nlet s = LoadingKit.URLSession.shared\n"
        ),
        // Each line keeps its end.
        ("// a\r\nlet s = URLSession.shared\n\r\n// b", "// a\r\nlet s = URLSession.shared\n\r\n// b"),
        ("// a\nimport FoundationNetworking\r\n// b\n", "// a\nimport LoadingKit\r\n// b\n"),
        (
            "import FoundationNetworking\nlet s = FoundationNetworking.URLSession.shared\r\n",
            "import LoadingKit\nlet s = LoadingKit.URLSession.shared\r\n"
        ),
        (
            "#if canImport(FoundationNetworking)\r\nimport FoundationNetworking\r\nlet x = 1\n#endif",
            "#if canImport(FoundationNetworking)\r\n#if os(Linux)\r\nimport LoadingKit\r\n#else\r\nimport FoundationNetworking\r\n#endif\r\nlet x = 1\n#endif"
        ),
        ("// a\r\nimport FoundationNetworking", "// a\r\nimport LoadingKit"),
        ("import Foundation\n", "import Foundation\n"), ("", ""), ("#endif\n#else\n\"", "#endif\n#else\n\""),
    ]

    @Test(arguments: sources) func source(_ before: String, _ after: String) {
        #expect(AdoptedSource(before).text == after)
        #expect(AdoptedSource(after).text == after)
        #expect(AdoptedSource(after).changes.isEmpty)
    }

    /// Sources for Apple's systems, and whether they need an import on Linux.
    static let withoutImport: [(source: String, needsImport: Bool)] = [
        ("import Foundation\nlet s = URLSession.shared\n", true),
        ("public import Foundation // why\nextension HTTPURLResponse {}\n", true),
        ("import Foundation\nfunc f(_ cookie: Foo.HTTPCookie?) {}\n", true),
        ("import Foundation\n// URLSession\nlet s = \"URLRequest\"\n", false),
        ("import Foundation\nlet urlRequest = MyURLRequest(), x = URLRequests()\n", false),
        ("import Foundation\nstruct URLRequest {}\nlet r = URLRequest()\n", false),
        ("import Foundation\n#if os(macOS)\nlet s = URLSession.shared\n#endif\n", false),
        (
            "import Foundation\n#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\nlet s: URLSession\n",
            false
        ),
        ("import Other\nlet s = URLSession.shared\n", false),
        ("#if os(Windows)\nimport Foundation\n#endif\nlet s = URLSession.shared\n", false),
    ]

    @Test(arguments: withoutImport) func anImportIsAdded(_ source: String, _ needsImport: Bool) {
        var adopted = AdoptedSource(source)
        #expect(adopted.needsImport(declaredElsewhere: adopted.declared) == needsImport)
        guard needsImport else { return }
        adopted.addImport()
        let line = source.prefix { $0 != "\n" }
        let added = "\(line)\n#if os(Linux)\n\(line.replacing("Foundation", with: "LoadingKit"))\n#endif\n"
        #expect(adopted.text == source.replacing("\(line)\n", with: added))
        #expect(adopted.changes.map(\.line) == [1] && adopted.importsOnCondition)
        let again = AdoptedSource(adopted.text)
        #expect(again.text == adopted.text && !again.needsImport(declaredElsewhere: []))
    }

    /// The added lines end as the line before them.
    @Test(arguments: ["// a\nimport Foundation\r\n// URL\n", "let s: URLSession\r\nimport Foundation"])
    func anAddedImportEndsAsItsNeighbour(_ source: String) {
        var adopted = AdoptedSource(source)
        adopted.addImport()
        let added = "import Foundation\r\n#if os(Linux)\r\nimport LoadingKit\r\n#endif"
        #expect(adopted.text == source.replacing("import Foundation", with: added))
    }

    /// The lines at which code depends on whether FoundationNetworking can be imported.
    static let questions: [(source: String, lines: [Int])] = [
        ("#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\nlet x = 1\n", []),
        ("#if canImport(FoundationNetworking)\n// why\nlet x = 1\nlet y = 1\n#else\nlet x = 2\n#endif\n", [3]),
        ("#if !canImport(FoundationNetworking)\nimport Foundation\n\nlet x = 1\n#endif\n", [4]),
        ("#if os(Linux)\nlet x = 1\n#endif\n", []),
    ]

    @Test(arguments: questions) func codeThatDependsOnFoundationNetworking(_ source: String, _ lines: [Int]) {
        #expect(AdoptedSource(source).questions.map(\.line) == lines)
    }

    /// A line, and a part of the remark about it; nil for none.
    static let lines: [(line: String, remark: String?)] = [
        ("let u = \"http://example.com/\"", "-1022"), ("let u = \"https://example.com/\"", nil),
        ("let u = \"http://localhost:80/a.b\"", nil), ("let u = \"http://127.0.0.1/\"", nil),
        ("let u = \"http://printer.local/\"", nil), ("// \"http://example.com/\"", nil),
        ("final class P: URLProtocol {", "@unchecked Sendable"),
        ("final class P: URLProtocol, @unchecked Sendable {", nil), ("import CFNetwork", "CFNetwork"),
        ("let c = NSURLConnection()", "this class"), ("let t = task.observe(\\.progress) { _, _ in }", "KVO"),
        ("let d = try Data(contentsOf: URL(string: x)!)", "Foundation loads this itself"),
        ("switch task.closeCode {", "default"), ("import HTTPTypesFoundation", "LoadingKitHTTPTypes"),
        ("import HTTPTypes", nil),
        ("typealias S = [FoundationNetworking.URLSession: \"x\"]", "not changed"),
    ]

    @Test(arguments: lines) func remarks(_ line: String, _ remark: String?) {
        let remarks = AdoptedSource("import FoundationNetworking\n\(line)\n").remarks
        #expect(remarks.map(\.line) == (remark == nil ? [] : [2]))
        #expect(remark.map { remarks.first?.text.contains($0) == true } ?? true, "\(remarks)")
    }

    // MARK: Manifests

    static let product = ".product(name: \"LoadingKit\", package: \"Kit\")"
    static let package = ".package(url: \"https://example.org/Kit\", branch: \"main\")"

    /// The arguments of `Package`, before and after, with PRODUCT and PACKAGE; nil where nothing is understood.
    static let manifests: [(before: String, after: String?)] = [
        (
            "name: \"A\", targets: [.target(name: \"A\")]",
            "name: \"A\", dependencies: [PACKAGE], targets: [.target(name: \"A\", dependencies: [PRODUCT])]"
        ),
        (
            "\n    name: \"A\",\n    targets: [\n        .target(\n            name: \"A\",\n            path: \"A\")\n    ]\n",
            "\n    name: \"A\",\n    dependencies: [\n        PACKAGE\n    ],\n    targets: [\n        .target(\n            name: \"A\", dependencies: [PRODUCT],\n            path: \"A\")\n    ]\n"
        ),
        (
            "dependencies: [.package(path: \"../B\")], targets: [.target(name: \"B\"), .target(name: \"A\", dependencies: [\"B\", .target(name: \"B\")])]",
            "dependencies: [.package(path: \"../B\"), PACKAGE], targets: [.target(name: \"B\"), .target(name: \"A\", dependencies: [\"B\", .target(name: \"B\"), PRODUCT])]"
        ),
        (
            "\n dependencies: [\n  .package(path: \"../B\"), // b, ]\n ],\n targets: [.target(name: \"A\", dependencies: [])]",
            "\n dependencies: [\n  .package(path: \"../B\"), // b, ]\n  PACKAGE,\n ],\n targets: [.target(name: \"A\", dependencies: [PRODUCT])]"
        ),
        (
            "\n dependencies: [\n  .package(path: \"../B\") /* b */\n ],\n targets: [.target(name: \"A\", dependencies: [\n  \"B\"\n ])]",
            "\n dependencies: [\n  .package(path: \"../B\"), /* b */\n  PACKAGE\n ],\n targets: [.target(name: \"A\", dependencies: [\n  \"B\",\n  PRODUCT\n ])]"
        ),
        (
            "dependencies: all, targets: [.target(name: \"A\", dependencies: Target.all)]",
            "dependencies: all + [PACKAGE], targets: [.target(name: \"A\", dependencies: Target.all + [PRODUCT])]"
        ),
        ("dependencies: all(), targets: [.target(name: \"A\", dependencies: [a] + b)]", nil),
        (
            "dependencies: [ // none\n ], targets: [.target(name: \"A\")]",
            "dependencies: [ // none\n     PACKAGE\n ], targets: [.target(name: \"A\", dependencies: [PRODUCT])]"
        ),
        ("name: \"A\"", nil), ("name: \"A\", targets: [module(\"A\")]", nil),
        ("name: \"A\", targets: (", nil),
    ]

    @Test(arguments: manifests) func manifest(_ before: String, _ after: String?) throws {
        let source = LoadingKitSource.repository(url: "https://example.org/Kit", .branch("main"))
        let text = "// Package(name: \"X\")\nlet package = Package(\(before))\n"
        var manifest = AdoptedManifest("// swift-tools-version: 6.1\n\(text)")
        manifest.add(source, to: [("A", false)])
        guard let after else {
            #expect(manifest.remarks.contains { $0.contains(Self.product) })
            return
        }
        let words = after.replacing("PRODUCT", with: Self.product).replacing("PACKAGE", with: Self.package)
        let expected = "// swift-tools-version: 6.1\n" + text.replacing(before, with: words)
        #expect(manifest.text == expected && manifest.remarks.isEmpty && manifest.changes.count == 2)
        var again = AdoptedManifest(manifest.text)
        again.add(source, to: [("A", false)])
        #expect(again.text == expected && again.changes.isEmpty)
    }

    /// A product that a list in a variable has already is not added once more.
    @Test(arguments: [true, false]) func lists(_ isThere: Bool) {
        let element = isThere ? Self.product : "\"B\""
        let text = """
            // swift-tools-version: 6.1
            var list: [Target.Dependency] = []
            list += [\(element)]
            let package = Package(
                name: "P", dependencies: [\(Self.package)], targets: [.target(name: "A", dependencies: list)])

            """
        var manifest = AdoptedManifest(text)
        manifest.add(.repository(url: "https://example.org/Kit", .branch("main")), to: [("A", false)])
        #expect(manifest.text == (isThere ? text : text.replacing("list)", with: "list + [\(Self.product)])")))
    }

    @Test(arguments: [
        ("// swift-tools-version: 6.1\n", "6.1", false), ("//swift-tools-version:5.4.2\n", "5.4", true),
        ("// Swift-Tools-Version:6;(dev)\n", "6.0", false), ("import PackageDescription\n", "3.1", true),
    ])
    func toolsVersions(_ line: String, _ version: String, _ isTooOld: Bool) {
        var manifest = AdoptedManifest("\(line)let package = Package(name: \"P\", targets: [.target(name: \"A\")])\n")
        #expect(ToolsVersion(manifest: manifest.text).description == version)
        manifest.add(.repository(url: "https://example.org/Kit", .branch("main")), to: [("A", false)])
        #expect(manifest.remarks.contains { $0.contains("5.5 or newer") } == isTooOld)
    }

    @Test func targets() {
        let manifest = AdoptedManifest(
            """
            let package = Package(
                name: "P", targets: [
                    .target(name: "A"), .executableTarget(name: "B", dependencies: [.target(name: "A")], path: "./b/"),
                    .testTarget(name: "C", path: "."), .target(name: named),
                ])
            """)
        #expect(manifest.targets.map(\.name) == ["A", "B", "C"])
        #expect(manifest.targets.map(\.folders.first) == ["Sources/A", "b", ""])
    }

    // MARK: A package

    private static let manifest = """
        // swift-tools-version: 6.1
        import PackageDescription

        let package = Package(
            name: "Sample",
            targets: [
                .target(name: "Sample"),
                .target(name: "Other"),
                .testTarget(name: "SampleTests", dependencies: ["Sample"]),
            ]
        )

        """

    private static let files = [
        "Package.swift": manifest,
        "Package@swift-6.2.swift": manifest.replacing("6.1", with: "6.2"),
        "Package@swift-5.9.swift": manifest.replacing("6.1", with: "5.9"),
        "Sources/Sample/Apple.swift": "import Foundation\nlet s = URLSession.shared\n",
        "Sources/Other/Other.swift": "import Foundation\n",
        "Sources/Sample/A.swift": "import Foundation\nimport FoundationNetworking\nlet u = \"http://example.com/\"\n",
        "Tests/SampleTests/T.swift":
            "#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\nimport Sample\n",
    ]

    private static let arguments = ["adopt", "--loadingkit", "https://example.org/LoadingKit"]

    private func texts(in folder: TemporaryFolder) throws -> [String: String] {
        try Dictionary(
            uniqueKeysWithValues: Self.files.keys.map { ($0, try String(contentsOf: folder.file($0), encoding: .utf8)) }
        )
    }

    private func package() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, text) in Self.files { try folder.write(text, to: name) }
        return folder
    }

    @Test(.timeLimit(.minutes(5))) func aPackageOutsideARepository() async throws {
        let folder = try package()
        let dry = try await ProgramRun(Self.arguments + ["--dry-run"], folder: folder)
        #expect(dry.status == 0 && dry.text.hasPrefix("Would be changed:\n"))
        #expect(try texts(in: folder) == Self.files)

        let run = try await ProgramRun(Self.arguments, folder: folder)
        #expect(run.status == 0 && run.errors.isEmpty)
        for part in ["  Sources/Sample/A.swift:2: import LoadingKit\n", "A.swift:3: plain http", "Undo with: patch -R"]
        {
            #expect(run.text.contains(part), "\(run.text)")
        }
        let adopted = try texts(in: folder)
        let manifest = try #require(adopted["Package.swift"])
        let dump = try await PackageDump(manifest)
        #expect(dump.dependencies.contains("https://example.org/LoadingKit"))
        #expect(manifest.contains(".target(name: \"Sample\", dependencies: [.product(name: \"LoadingKit\""))
        #expect(manifest.contains("condition: .when(platforms: [.linux])"))
        #expect(manifest.contains(".target(name: \"Other\"),"))
        #expect(adopted["Package@swift-6.2.swift"] == manifest.replacing("6.1", with: "6.2"))
        #expect(adopted["Package@swift-5.9.swift"] == Self.files["Package@swift-5.9.swift"])
        #expect(adopted["Sources/Sample/Apple.swift"]?.contains("#if os(Linux)\nimport LoadingKit\n#endif\n") == true)

        let again = try await ProgramRun(Self.arguments, folder: folder)
        #expect(again.status == 0 && again.text.hasSuffix("Nothing is left to change.\n"))
        #expect(try texts(in: folder) == adopted)
        let patch = try String(contentsOf: folder.file("loadkit-adopt.patch"), encoding: .utf8)
        try TestSupport.ToolRun.output(
            of: "git", ["-C", folder.path, "apply", "-R", "--unsafe-paths", "--directory", folder.path, "-"],
            aptPackage: "git", input: patch, environment: ["GIT_CEILING_DIRECTORIES": "/"])
        #expect(try texts(in: folder) == Self.files)
    }

    @Test(.timeLimit(.minutes(5))) func aPackageInARepository() async throws {
        let folder = try package()
        func git(_ arguments: String...) throws {
            let user = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
            try TestSupport.ToolRun.output(
                of: "git", ["-C", folder.path] + user + arguments, aptPackage: "git")
        }
        try git("init", "-q")
        let refused = try await ProgramRun(Self.arguments, folder: folder)
        #expect(refused.status == 23 && refused.errors.contains("not committed") && refused.output.isEmpty)
        #expect(try texts(in: folder) == Self.files)

        try git("add", ".")
        try git("commit", "-qm", "first")
        let run = try await ProgramRun(Self.arguments, folder: folder)
        #expect(run.status == 0)
        #expect(run.text.contains("checkout -- Sources/Sample/A.swift Sources/Sample/Apple.swift"))
        #expect(try texts(in: folder) != Self.files)
        try git("checkout", "--", ".")
        #expect(try texts(in: folder) == Self.files)

        // What git ignores, it does not restore.
        try folder.write("Made.swift\n", to: ".git/info/exclude")
        let made = try folder.write("import FoundationNetworking\n", to: "Sources/Sample/Made.swift")
        let ignored = try await ProgramRun(Self.arguments, folder: folder)
        #expect(ignored.status == 23 && ignored.errors.contains("Made.swift"))
        try FileManager.default.removeItem(at: made)

        try folder.write("import FoundationNetworking\n", to: "Sources/Sample/A.swift")
        #expect(try await ProgramRun(Self.arguments, folder: folder).status == 23)
        #expect(try await ProgramRun(Self.arguments + ["--force"], folder: folder).text.contains("Undo with: patch -R"))
    }

    @Test func refusals() async throws {
        let folder = try TemporaryFolder()
        let run = try await ProgramRun(Self.arguments, folder: folder)
        #expect(run.status == 37 && run.errors.contains("there is no Package.swift"))
    }
}
