/// The handler's class.
struct HandlerTemplate {
    let text: String

    init(_ names: HandlerNames) {
        text = """
            import Foundation
            import LoadingKit

            /// Loads `\(names.scheme):` URLs: `\(names.scheme):hello?count=3` is three lines of text, each `hello`.
            ///
            /// One instance loads one request. It has no state, so that loads at the same time share nothing.
            public final class \(names.handler): URLProtocolHandler, @unchecked Sendable {  // stateless
                /// The scheme, in lower case.
                public static let scheme = "\(names.scheme)"

                /// Whether the URL has the scheme. Called for every request of the session: it must be quick.
                public override class func canInit(with request: URLRequest) -> Bool {
                    request.url?.scheme?.lowercased() == scheme
                }

                /// Loads the request. The load is complete when the function returns, and fails with the error that it throws.
                ///
                /// - Throws: ``\(names.error)`` if the request names no resource.
                public override func load(_ load: LoadContext) async throws {
                    let method = load.request.httpMethod ?? "GET"
                    guard method == "GET" else { throw \(names.error).methodNotSupported(method) }
                    let resource = try \(names.resource)(load.url)
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

            """
    }
}
