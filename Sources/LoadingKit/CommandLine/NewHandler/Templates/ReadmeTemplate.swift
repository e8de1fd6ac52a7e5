/// README.md.
struct ReadmeTemplate {
    let text: String

    init(_ names: HandlerNames, _ source: LoadingKitSource) {
        text = """
            # \(names.module)

            Loads `\(names.scheme):` URLs with LoadingKit: `\(names.scheme):hello?count=3` is three lines of text.

            ```swift
            import Foundation
            import LoadingKit
            import \(names.module)

            let configuration = URLSessionConfiguration.default
            configuration.add\(names.handler)()
            let session = URLSession(configuration: configuration)
            let (data, _) = try await session.data(from: URL(string: "\(names.scheme):hello?count=3")!)
            ```

            ## Build and test

            LoadingKit needs the packages that its README names. Then:

            ```
            export SWIFT_DETERMINISTIC_HASHING=1
            swift test
            ```

            Without the variable SwiftPM puts a package's traits into another order each time, and may compile LoadingKit
            again for that.

            ## Make it yours

            | file | what to change |
            |---|---|
            | `\(names.resource).swift` | what a URL stands for, and where its bytes come from |
            | `\(names.handler).swift` | the response: its type, its length, or an `HTTPURLResponse` with a status |
            | `\(names.error).swift` | what can go wrong |
            | `LoadTests.swift` | the tables of URLs |
            | `ContractTests.swift` | URLs whose loads are checked; add `.upload` and `.redirect` where there are some |

            The page *The contract of handlers* of LoadingKit's documentation has the rules; *Write a scheme* goes on with
            ranges and uploads.
            \(source.remark)
            """
    }
}

extension LoadingKitSource {
    /// A remark about a dependency that only exists on this machine.
    fileprivate var remark: String {
        guard case .folder = self else { return "" }
        return """

            `Package.swift` names a folder of this machine for LoadingKit. Name its repository there before you publish
            the package.

            """
    }
}
