import Foundation
import LoadingKitCore

/// Loads `data:` URLs.
public final class DataURLHandler: URLProtocolHandler, LoopAwareHandler, @unchecked Sendable {  // stateless
    /// Longer URLs, in bytes, take too long to decode on the session's event loop.
    private static let longest = 64 * 1024

    /// Whether the URL's scheme is `data`.
    public override class func canInit(with request: URLRequest) -> Bool { request.url?.hasScheme("data") ?? false }

    package static let ranges = RangeSupport.unsupported

    /// Delivers the URL's own bytes, with the type that it names.
    public override func load(_ load: LoadContext) async throws {
        let text = load.url.absoluteString
        let isLong = text.utf8.count > Self.longest
        guard let data = isLong ? try await load.computeOffLoop({ DataURL(text) }) : DataURL(text) else {
            throw LoadFailure(.badURL, "this is not a valid data: URL: it has no comma, or its base64 is invalid")
        }
        try await load.receive(
            URLResponse(
                url: load.url, mimeType: data.mimeType.essence, expectedContentLength: data.body.count,
                textEncodingName: data.mimeType["charset"]?.lowercased()))
        if !data.body.isEmpty { try await load.receive(Data(data.body)) }
    }
}
