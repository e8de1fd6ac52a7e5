/// A way that requests take through the library: a column of the matrix.
package enum MatrixPath: String, CaseIterable, Sendable {
    case http1 = "HTTP/1.1"
    case http2 = "HTTP/2"
    case webSocket = "WebSocket"
    case ftp
    case stream = "stream task"
    case resumedDownload = "resumed download"
    case resumedUpload = "resumed upload"
    /// A background session whose transfers are made in the process.
    case inProcess = "background, in the process"
    case daemon = "background, in the daemon"
    /// Through an interceptor that forwards what it gets.
    case interceptor
    /// Through a handler of the program's, which loads another URL by `next.load`.
    case forwarded = "`next.load`"
    /// The request that a redirect led to.
    case redirect

    package static let background: [MatrixPath] = [.inProcess, .daemon]
    /// Those whose loads are data tasks.
    package static let data: [MatrixPath] = [.http1, .http2, .interceptor, .forwarded, .redirect]
    /// Those whose requests are ones of HTTP, but for a WebSocket's handshake.
    package static let http = data + [.resumedDownload, .resumedUpload] + background
}
