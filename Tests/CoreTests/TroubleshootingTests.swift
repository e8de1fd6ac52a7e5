import Foundation
import Glibc
import LoadingKitHTTP1
import LoadingKitHTTP2
import LoadingKitWebSocket
import Testing

@testable import LoadingKitContentCoding
@testable import LoadingKitCore
@testable import LoadingKitTransport

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

    private static func certificate(_ reason: CertificateFailure.Reason) -> any Error {
        let failure = CertificateFailure(code: 1, subject: "CN=a", depth: 0, text: "why", reason: reason)
        return TransportError(.tls, "h:443", .certificate(failure))
    }

    /// Errors of loads, and the page's words for their cause.
    private static let causes: [(error: any Error, words: String)] = [
        (TransportError(.connect, "h:443", .refused), "every address refused"),
        (TransportError(.connect, "h:443", .systemCall(.socket, errno: EMFILE)), "left for the connection"),
        (LoadFailure.nothingStored, "found no stored response"),
        (CancellationError(), "the program cancelled the task"), (LoadFailure.withoutResponse, "ended without one"),
        (TransportError(.tls, "h:443", .handshake("why")), "the handshake failed"),
        (certificate(.unknownAuthority), "no trusted authority above it, or an intermediate is missing"),
        (certificate(.expired), "the certificate has expired"), (certificate(.notYetValid), "is not yet valid"),
        (certificate(.selfSigned), "self-signed"), (certificate(.hostMismatch), "does not have the host's name"),
        (certificate(.revoked), "is revoked"), (certificate(.unknownStatus), "revocation status is unknown"),
        (certificate(.weak), "too weak"), (certificate(.pinMismatch), "a pin or the delegate refuses it"),
        (certificate(.refused), "a pin or the delegate refuses it"),
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
