import Foundation
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitWebSocket
import Testing

@testable import LoadingKitContentCoding
@testable import LoadingKitCore

/// The page on error codes names a cause where the code of its error is, and nowhere else.
@Suite struct TroubleshootingTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../Sources/LoadingKit/LoadingKit/LoadingKit.docc/Troubleshooting.md"
    ).standardizedFileURL

    private static func undecoded(_ kind: ContentCodingError.Kind) -> any Error {
        do {
            return try LoadFailure.decoding { () throws(ContentCodingError) -> any Error in
                throw ContentCodingError(coding: .gzip, kind: kind)
            }
        } catch {
            return error
        }
    }

    /// Errors of loads, and the page's words for their cause.
    private static let causes: [(error: any Error, words: String)] = [
        (undecoded(.corrupt("why")), "a body cannot be decoded"), (undecoded(.truncated), "a body cannot be decoded"),
        (undecoded(.expandsTooFar(ratio: 7)), "expands beyond `maximumDecompressionRatio`"),
        (ResumeData.invalid("why"), "resume data is malformed"),
        (WebSocketError(.invalidUTF8), "a WebSocket's text is not UTF-8"),
        (WebSocketError(.corruptCompression("why")), "its compressed message is corrupt"),
        (WebSocketError(.messageTooBig(limit: 7)), "a bound on memory is reached"),
        (HTTP1Error(.malformedStatusLine), "the bytes are not HTTP"), (HTTP1Error(.headTooLarge), "a head is too long"),
        (HTTP2Error(.headerListTooLarge), "a head is too long"),
    ]

    @Test func eachCauseIsInTheRowOfItsCode() throws {
        let rows = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "\n").filter { $0.first == "|" }
        for (error, words) in Self.causes {
            let code = URLError(error, url: nil).code.rawValue
            let found = rows.filter { $0.contains(words) }
            #expect(!found.isEmpty && found.allSatisfy { $0.contains("(\(code))") }, "\(code): \(words)")
        }
    }
}
