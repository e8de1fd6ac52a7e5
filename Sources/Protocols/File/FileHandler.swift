import Foundation
import LoadingKitCore

/// Loads `file:` URLs: regular files of this machine, completely or a range.
public final class FileHandler: URLProtocolHandler, LoopAwareHandler, @unchecked Sendable {  // stateless
    /// Whether the URL's scheme is `file`.
    public override class func canInit(with request: URLRequest) -> Bool { request.url?.hasScheme("file") ?? false }

    package static let ranges = RangeSupport.unsupported

    /// Reads the file one piece at a time, on the thread pool for files, at the receiver's speed.
    ///
    /// A request's `Range` field with one range is supported. The response's length is then that of the range. The
    /// range from the file's end on is empty.
    public override func load(_ load: LoadContext) async throws {
        let method = load.request.httpMethod ?? "GET"
        guard method == "GET" || method == "HEAD" else {
            throw LoadFailure(.unsupportedURL, "a file can be loaded with GET or HEAD, not \(method)")
        }
        let file = try await OpenFile.open(FilePath(load.url))
        var reader = try FileReader(file, rangeField: load.request.value(forHTTPHeaderField: "Range"))
        // The first piece is read before the response is delivered, because it determines the response's length. This
        // applies to HEAD as well.
        var piece = try await reader.next()
        try await load.receive(response(load.url, length: reader.length))
        guard method == "GET" else { return }
        while let data = piece {
            try await load.receive(data)
            piece = try await reader.next()
        }
    }

    private func response(_ url: URL, length: Int64?) -> URLResponse {
        URLResponse(
            url: url, mimeType: MIMEType.forPathExtension(url.pathExtension) ?? "application/octet-stream",
            expectedContentLength: length.map { Int(clamping: $0) } ?? -1, textEncodingName: nil)
    }
}
