import Foundation
import LoadingKit

/// The handlers of a session, in the order in which they are asked, with the schemes that each is known to load.
struct SchemeTable {
    /// A handler says of a request whether it loads it, and not which schemes there are: these are asked for.
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
