import Foundation
import LoadingKitFTP

/// Converts a listing, as the server sends it, to a response's body, one part at a time.
final class FTPListingBody {
    private var parser: FTPListingParser
    private(set) var document: any FTPListingDocument

    init(_ request: FTPRequest, isMachineListing: Bool) {
        parser = FTPListingParser(
            format: isMachineListing ? .mlsd : .list(now: Int64(Date().timeIntervalSince1970)))
        let endsInSlash = request.url.path(percentEncoded: true).hasSuffix("/")
        document =
            request.wantsJSON
            ? FTPListingJSON() : FTPListingPage(path: request.transfer.path.whole, endsInSlash: endsInSlash)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(FTPError) -> [UInt8] {
        try parser.receive(bytes).flatMap { document.row(for: $0) }
    }

    func finish() throws(FTPError) -> [UInt8] {
        let rows = try parser.finish().flatMap { document.row(for: $0) }
        return rows + document.end(unreadableLineCount: parser.unreadableLineCount)
    }
}
