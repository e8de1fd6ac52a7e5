#if FTP
    import LoadingKitFTPHandler

    typealias FTPHandler = FTPProtocolHandler
#else
    import Foundation
    import LoadingKitCore

    /// Says why `ftp` and `ftps` URLs are not loaded.
    final class FTPHandler: URLProtocolHandler, @unchecked Sendable {  // it has no state
        override class func canInit(with request: URLRequest) -> Bool {
            ["ftp", "ftps"].contains(request.url?.scheme?.lowercased())
        }

        override func load(_ load: LoadContext) async throws {
            throw LoadFailure(.unsupportedURL, "ftp: and ftps: URLs need LoadingKit's package trait FTP")
        }
    }
#endif
