import Foundation
import LoadingKitCore

/// Loads `file:` URLs: regular files of this machine, whole or a range.
public final class FileHandler: URLProtocolHandler, @unchecked Sendable {  // stateless
    /// Whether the URL's scheme is `file`.
    public override class func canInit(with request: URLRequest) -> Bool { request.url?.hasScheme("file") ?? false }

    /// Reads the file a piece at a time, off the session's event loop, as fast as the receiver takes it.
    ///
    /// A request's `Range` field of one range is honoured; the response's length is then the range's.
    public override func load(_ load: LoadContext) async throws {
        let isHead = load.request.httpMethod == "HEAD"
        guard isHead || load.request.httpMethod == "GET" else {
            throw LoadFailure(
                .unsupportedURL, "a file can be loaded with GET or HEAD, not \(load.request.httpMethod ?? "")")
        }
        let file = try await OpenFile.open(FilePath(load.url))
        let range = ByteRange.parse(load.request.value(forHTTPHeaderField: "Range"), size: file.size)
        guard let range else {
            throw LoadFailure(
                .resourceUnavailable, "the range lies behind the end of the file, which has \(file.size) bytes")
        }
        try await load.receive(
            URLResponse(
                url: load.url,
                mimeType: MIMEType.forPathExtension(load.url.pathExtension) ?? "application/octet-stream",
                expectedContentLength: Int(clamping: range.count), textEncodingName: nil))
        if isHead { return }
        var position = range.lowerBound
        while position < range.upperBound {
            let piece = try await file.read(at: position, upTo: range.upperBound)
            // Another program has made the file shorter meanwhile.
            guard !piece.isEmpty else {
                throw LoadFailure(.networkConnectionLost, "the file ended early: it was made shorter while it was read")
            }
            position += Int64(piece.count)
            try await load.receive(piece)
        }
    }
}
