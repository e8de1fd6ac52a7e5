#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKit

    /// `loadkit schemes`: which handlers there are, and which of them loads what.
    struct SchemesCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schemes", abstract: "Lists the handlers, or says which of them loads a URL.")

        @Argument(help: ArgumentHelp("Says which handlers are asked for this URL.", valueName: "URL"))
        var url: String?

        func run() async throws {
            let session = URLSession(configuration: .default)
            defer { session.finishTasksAndInvalidate() }
            guard let url else { return StandardOutput.write(SchemeTable(session.registry).text) }
            let explanation = session.registry.explain(URLRequest(url: try URLArgument(url).url))
            StandardOutput.write(explanation.description + "\n")
            if explanation.handler == nil {
                throw ToolFailure(.unsupportedProtocol, "no handler is registered that loads \(url)")
            }
        }
    }

    /// The handlers of a session, in the order in which they are asked, with the schemes that each is known to load.
    struct SchemeTable {
        /// A handler can be asked about a request, and not for its schemes: so it is asked about one of each of these.
        private static let candidates = ["http", "https", "file", "data", "ftp", "ftps", "ws", "wss", "about", "blob"]

        let text: String

        init(_ registry: URLProtocolRegistry) {
            let owners = Self.candidates.map { scheme in
                (scheme: scheme, handler: URL(string: "\(scheme)://host/").flatMap { Self.handler(of: $0, registry) })
            }
            let rows = registry.handlerNames.map { name in
                (owners.filter { $0.handler == name }.map { "\($0.scheme):" }.joined(separator: " "), name)
            }
            let width = rows.map(\.0.count).max() ?? 0
            text = rows.map { $0.padding(toLength: width, withPad: " ", startingAt: 0) + "  \($1)\n" }.joined()
        }

        private static func handler(of url: URL, _ registry: URLProtocolRegistry) -> String? {
            registry.explain(URLRequest(url: url)).handler
        }
    }
#endif
