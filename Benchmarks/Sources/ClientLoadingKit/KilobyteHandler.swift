import Foundation
import LoadingKit

/// A scheme that costs nothing itself, `kilobyte:`, to measure what all schemes cost.
final class KilobyteHandler: URLProtocolHandler, @unchecked Sendable {  // has no state of its own
    static let body = Data(repeating: 0x61, count: 1024)

    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "kilobyte" }

    override func load(_ load: LoadContext) async throws {
        try await load.receive(
            URLResponse(
                url: load.url, mimeType: "text/plain", expectedContentLength: Self.body.count, textEncodingName: nil))
        try await load.receive(Self.body)
    }
}
