import LoadingKitCore

/// Loads `ftp` and `ftps` URLs: reads, writes and lists files and folders of FTP servers, as <doc:FTP> describes.
///
/// A request has the form of an HTTP request, so that everything that creates, stores and modifies requests also works
/// with FTP. The response is an `HTTPURLResponse`.
public final class FTPProtocolHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    /// Whether the URL's scheme is `ftp` or `ftps`.
    public override class func canInit(with request: URLRequest) -> Bool {
        request.url.map { $0.hasScheme("ftp") || $0.hasScheme("ftps") } ?? false
    }

    package static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler {
        FTPLoad(request, resources)
    }
}
