/// A file of a new package.
struct PackageFile: Hashable, Sendable {
    /// The path within the package.
    let path: String
    let text: String
}

/// The package that `loadkit new-handler` writes. Its files are made of the texts in `Resources`, which are part of the
/// program.
struct HandlerPackage: Sendable {
    let files: [PackageFile]

    init(_ names: HandlerNames, _ source: LoadingKitSource) {
        let values = [
            "stem": names.stem, "scheme": names.scheme, "SCHEME": names.scheme.uppercased(),
            "handler": names.handler, "resource": names.resource, "module": names.module, "error": names.error,
            "tests": names.tests, "package": SourceText.literal(source.identity), "dependency": source.dependency,
            "remark": source.isFolder ? Resource(PackageResources.Remark_md_txt).text : "",
        ]
        let templates = [
            (".gitignore", PackageResources.gitignore_txt),
            ("Package.swift", PackageResources.Package_swift_txt),
            ("README.md", PackageResources.README_md_txt),
            ("Sources/{{module}}/{{handler}}.swift", PackageResources.Handler_swift_txt),
            ("Sources/{{module}}/{{resource}}.swift", PackageResources.Resource_swift_txt),
            ("Sources/{{module}}/{{error}}.swift", PackageResources.Error_swift_txt),
            ("Sources/{{module}}/URLSessionConfiguration+{{stem}}.swift", PackageResources.Registration_swift_txt),
            ("Sources/{{module}}/{{module}}.docc/{{module}}.md", PackageResources.Catalogue_md_txt),
            ("Tests/{{tests}}/ContractTests.swift", PackageResources.ContractTests_swift_txt),
            ("Tests/{{tests}}/LoadTests.swift", PackageResources.LoadTests_swift_txt),
        ]
        files = templates.map { path, template in
            let text = Resource(template, values).text
            let path = Resource(path, values).text
            return PackageFile(path: path, text: path.hasPrefix("Tests/") ? SourceText.sortingImports(text) : text)
        }
    }
}

enum SourceText {
    /// The source with its leading import lines in the order that `swift format` requires.
    static func sortingImports(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let imports = lines.prefix { $0.hasPrefix("import ") }
        return (imports.sorted() + lines[imports.endIndex...]).joined(separator: "\n")
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
