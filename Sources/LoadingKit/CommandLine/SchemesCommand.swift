#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKit

    /// `loadkit schemes`: lists the handlers, and the schemes that each loads.
    struct SchemesCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schemes", abstract: "Lists the handlers, or says which of them loads a URL.")

        @Argument(help: ArgumentHelp("Says which handlers are asked for this URL.", valueName: "URL"))
        var url: String?

        func run() async throws {
            let configuration = URLSessionConfiguration.default
            configuration.installPlugins()
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            guard let url else {
                try StandardOutput.write(SchemeTable(session.registry).text)
                return
            }
            let explanation = session.registry.explain(URLRequest(url: try URLArgument(url).url))
            try StandardOutput.write(explanation.description + "\n")
            if explanation.handler == nil {
                throw ToolFailure(.unsupportedProtocol, "no handler is registered that loads \(url)")
            }
        }
    }

    /// The handlers of a session, in the order in which they are tried, with the schemes that each is known to load.
    struct SchemeTable {
        /// A handler decides about requests, and does not list its schemes: it is tried with a request for each of
        /// these.
        private static let candidates = [
            "http", "https", "file", "data", "ftp", "ftps", "ws", "wss", "zip", "s3", "http+unix", "https+unix",
            "ws+unix",
            "wss+unix", "about", "blob",
        ]

        let text: String

        init(_ registry: URLProtocolRegistry) {
            let owners = Self.candidates.map { scheme in
                (scheme, URL(string: "\(scheme)://host/").flatMap { registry.explain(URLRequest(url: $0)).handler })
            }
            let rows = registry.handlerNames.map { name in
                (owners.filter { $0.1 == name }.map { "\($0.0):" }.joined(separator: " "), name)
            }
            let width = rows.map(\.0.count).max() ?? 0
            text = rows.map { Columns.left($0, width) + "  \($1)\n" }.joined()
        }
    }
#endif
