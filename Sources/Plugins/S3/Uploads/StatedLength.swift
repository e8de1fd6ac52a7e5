import Foundation
import LoadingKit

/// Compares a stream with the length that its request states: a value. The requests that are sent to the server state
/// the length of what was read, so that without this check the server would store an incomplete object.
struct StatedLength: Sendable {
    /// The number of bytes to come; nil where the request states no length.
    private var remaining: Int64?

    init(of request: URLRequest) { remaining = request.lengthOfStream }

    /// Counts a piece of the body; nil at its end.
    ///
    /// - Throws: `URLError.requestBodyStreamExhausted` if the body is longer or shorter, as over HTTP.
    mutating func count(_ piece: Data?) throws {
        guard let before = remaining else { return }
        let left = before - Int64(piece?.count ?? 0)
        guard left >= 0, piece != nil || left == 0 else {
            let text = "the request's body is \(left < 0 ? "longer" : "shorter") than its Content-Length"
            throw URLError(.requestBodyStreamExhausted, userInfo: [NSLocalizedDescriptionKey: text])
        }
        remaining = left
    }
}

extension URLRequest {
    /// The length that the request states for its stream; nil where it states none, or has another body.
    var lengthOfStream: Int64? {
        guard httpBodyStream != nil else { return nil }
        return value(forHTTPHeaderField: "Content-Length").flatMap { UInt64($0) }.map { Int64(clamping: $0) }
    }
}
