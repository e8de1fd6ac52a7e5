import Foundation
import LoadingKit

/// A scheme of the demo's own: `greeting:NAME`. This is all that it takes.
final class GreetingHandler: URLProtocolHandler, @unchecked Sendable {  // stateless
    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "greeting" }

    override func load(_ load: LoadContext) async throws {
        try await load.receive(
            URLResponse(url: load.url, mimeType: "text/plain", expectedContentLength: -1, textEncodingName: "utf-8"))
        let name = load.url.absoluteString.dropFirst("greeting:".count)
        try await load.receive(Data("Good morning, \(name)!\n".utf8))
    }
}
