import LoadingKitCore

/// Loads `ftp` and `ftps` URLs: files and folders of FTP servers, read, written and listed, as <doc:FTP> has it.
///
/// What a request asks for is said as it would be to an HTTP server, so that all that makes, keeps and changes requests serves
/// for these, too; so is the answer, an `HTTPURLResponse`.
public final class FTPProtocolHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    /// Whether the URL's scheme is `ftp` or `ftps`.
    public override class func canInit(with request: URLRequest) -> Bool {
        request.url.map { $0.hasScheme("ftp") || $0.hasScheme("ftps") } ?? false
    }

    package static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler {
        FTPLoad(request, resources)
    }
}
