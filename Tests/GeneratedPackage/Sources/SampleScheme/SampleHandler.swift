import Foundation
import LoadingKit

/// Loads `sample:` URLs: `sample:hello?count=3` is three lines of text, each `hello`.
///
/// One instance loads one request. It has no state, so that loads at the same time share nothing.
public final class SampleHandler: URLProtocolHandler, @unchecked Sendable {  // stateless
    /// The scheme, in lower case.
    public static let scheme = "sample"

    /// Whether the URL has the scheme. Called for every request of the session: it must be quick.
    public override class func canInit(with request: URLRequest) -> Bool {
        request.url?.scheme?.lowercased() == scheme
    }

    /// Loads the request. The load is complete when the function returns, and fails with the error that it throws.
    ///
    /// - Throws: ``SampleSchemeError`` if the request names no resource.
    public override func load(_ load: LoadContext) async throws {
        let method = load.request.httpMethod ?? "GET"
        guard method == "GET" else { throw SampleSchemeError.methodNotSupported(method) }
        let resource = try SampleResource(load.url)
        // The response comes before the body. A length that is not known is -1.
        try await load.receive(
            URLResponse(
                url: load.url, mimeType: "text/plain", expectedContentLength: resource.byteCount,
                textEncodingName: "utf-8"))
        // A long body is handed over in pieces. `receive` waits while the program is behind, and
        // throws when the load was cancelled.
        for piece in resource.pieces { try await load.receive(piece) }
    }
}
