import Foundation
import LoadingKitCore

/// Loads `data:` URLs.
public final class DataURLHandler: URLProtocolHandler, @unchecked Sendable {  // stateless
    /// Whether the URL's scheme is `data`.
    public override class func canInit(with request: URLRequest) -> Bool { request.url?.hasScheme("data") ?? false }

    /// Gives the URL's own bytes, with the type that it names.
    public override func load(_ load: LoadContext) async throws {
        guard let data = DataURL(load.url.absoluteString) else {
            throw LoadFailure(.badURL, "this is no data: URL: it has no comma, or its base64 is none")
        }
        try await load.receive(
            URLResponse(
                url: load.url, mimeType: data.mimeType.essence, expectedContentLength: data.body.count,
                textEncodingName: data.mimeType["charset"]))
        if !data.body.isEmpty { try await load.receive(Data(data.body)) }
    }
}
