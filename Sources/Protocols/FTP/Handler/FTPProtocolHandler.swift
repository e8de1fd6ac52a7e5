import Foundation
import LoadingKitCore

/// Loads `ftp` and `ftps` URLs: files and folders of FTP servers, read, written and listed.
///
/// What a request asks for is said as it would be to an HTTP server, so that all that makes, keeps and changes requests serves
/// for these, too; so is the answer, an `HTTPURLResponse`:
///
/// | method | what is done |
/// |---|---|
/// | `GET` | the file is read (`RETR`), or the folder listed (`MLSD`, `LIST`) |
/// | `HEAD` | size and time of the file are asked for (`SIZE`, `MDTM`) |
/// | `PUT`, or `GET` with a body | the body is written to the file (`STOR`) |
/// | `APPE` | the body is put behind what the file has (`APPE`) |
/// | `MKCOL` | the folder is made (`MKD`) |
///
/// The fields `Range`, `If-Range`, `Accept`, `FTP-TLS`, `FTP-Folders` and `FTP-Path` of a request are heeded; no other is.
public final class FTPProtocolHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    /// Whether the URL's scheme is `ftp` or `ftps`.
    public override class func canInit(with request: URLRequest) -> Bool {
        guard let url = request.url else { return false }
        return url.hasScheme("ftp") || url.hasScheme("ftps")
    }

    package static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler {
        FTPLoad(request, resources)
    }
}
