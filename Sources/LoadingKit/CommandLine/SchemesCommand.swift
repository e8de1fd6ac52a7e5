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
