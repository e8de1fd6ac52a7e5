import Foundation

/// The resource of a `sample:` URL: a line of text, a number of times.
///
/// A value without I/O, so that a table of URLs tests it. This is the part to replace first.
struct SampleResource: Hashable, Sendable {
    /// The largest number of lines that a URL can request.
    static let maximumCount = 1_000_000
    /// The size of a piece of the body in bytes, unless a single line is longer.
    static let pieceSize = 65_536

    let line: String
    let count: Int

    /// - Throws: an error that names the mistake in the URL.
    init(_ url: URL) throws(SampleSchemeError) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            parts.host == nil, !parts.path.isEmpty
        else { throw .textMissing(url) }
        line = parts.path + "\n"
        let value = parts.queryItems?.first { $0.name == "count" }?.value ?? "1"
        guard let count = Int(value), (0...Self.maximumCount).contains(count) else {
            throw .countInvalid(value)
        }
        self.count = count
    }

    /// The size of the whole body in bytes.
    var byteCount: Int { count * line.utf8.count }

    /// The body, made piece by piece, so that no load holds all of it.
    var pieces: some Sequence<Data> {
        let (line, count) = (line, count)
        let linesOfPiece = max(1, Self.pieceSize / line.utf8.count)
        return stride(from: 0, to: count, by: linesOfPiece).lazy.map { first in
            Data(String(repeating: line, count: min(linesOfPiece, count - first)).utf8)
        }
    }
}
