/// The first page of the documentation.
struct CatalogueTemplate {
    let text: String

    init(_ names: HandlerNames) {
        text = """
            # ``\(names.module)``

            Loads `\(names.scheme):` URLs with LoadingKit.

            ## Overview

            ```swift
            import Foundation
            import LoadingKit
            import \(names.module)

            let configuration = URLSessionConfiguration.default
            configuration.add\(names.handler)()
            let session = URLSession(configuration: configuration)
            let (data, _) = try await session.data(from: URL(string: "\(names.scheme):hello?count=3")!)
            ```

            | URL | stands for |
            |---|---|
            | `\(names.scheme):hello` | the line `hello` |
            | `\(names.scheme):hello?count=3` | the same three times; at most 1,000,000 times |

            A body is `text/plain` in UTF-8, and is made as it is read. What fails throws ``\(names.error)``.

            ## Topics

            - ``\(names.handler)``
            - ``\(names.error)``

            """
    }
}
