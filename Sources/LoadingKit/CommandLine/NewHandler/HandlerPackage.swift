/// A file of a new package.
struct PackageFile: Hashable, Sendable {
    /// The path within the package.
    let path: String
    let text: String
}

/// The package that `loadkit new-handler` writes: a value, which tests compare with a package that they compile.
struct HandlerPackage: Sendable {
    let files: [PackageFile]

    init(_ names: HandlerNames, _ source: LoadingKitSource) {
        let (sources, tests) = ("Sources/\(names.module)", "Tests/\(names.tests)")
        files = [
            PackageFile(path: ".gitignore", text: ".build/\n.swiftpm/\nPackage.resolved\n"),
            PackageFile(path: "Package.swift", text: ManifestTemplate(names, source).text),
            PackageFile(path: "README.md", text: ReadmeTemplate(names, source).text),
            PackageFile(path: "\(sources)/\(names.handler).swift", text: HandlerTemplate(names).text),
            PackageFile(path: "\(sources)/\(names.resource).swift", text: ResourceTemplate(names).text),
            PackageFile(path: "\(sources)/\(names.error).swift", text: ErrorTemplate(names).text),
            PackageFile(
                path: "\(sources)/URLSessionConfiguration+\(names.stem).swift",
                text: RegistrationTemplate(names).text),
            PackageFile(
                path: "\(sources)/\(names.module).docc/\(names.module).md", text: CatalogueTemplate(names).text),
            PackageFile(path: "\(tests)/ContractTests.swift", text: ContractTestsTemplate(names).text),
            PackageFile(path: "\(tests)/LoadTests.swift", text: LoadTestsTemplate(names).text),
        ]
    }
}

/// Pieces of Swift source that several templates use.
enum SourceText {
    /// Import lines in the order that `swift format` requires.
    static func imports(_ modules: String...) -> String {
        modules.sorted().map { "import \($0)\n" }.joined()
    }

    /// A string literal for any text.
    static func literal(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
