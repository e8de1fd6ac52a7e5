import Foundation
import LoadingKitFTP

/// Converts a listing, as the server sends it, to a response's body, one part at a time.
final class FTPListingBody {
    private var parser: FTPListingParser
    private var document: any FTPListingDocument
    private var hasBegun = false

    init(_ request: FTPRequest, isMachineListing: Bool) {
        parser = FTPListingParser(
            format: isMachineListing ? .mlsd : .list(now: Int64(Date().timeIntervalSince1970)))
        let endsInSlash = request.url.path(percentEncoded: true).hasSuffix("/")
        document =
            request.wantsJSON
            ? FTPListingJSON() : FTPListingPage(path: request.transfer.path.whole, endsInSlash: endsInSlash)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(FTPError) -> [UInt8] {
        let rows = try parser.receive(bytes).flatMap { document.row(for: $0) }
        return takeBeginning() + rows
    }

    func finish() throws(FTPError) -> [UInt8] {
        let rows = try parser.finish().flatMap { document.row(for: $0) }
        return takeBeginning() + rows + document.end(unreadableLineCount: parser.unreadableLineCount)
    }

    /// The document's beginning, once. It is part of the first bytes, as the program gets no bytes before it has decided
    /// about the response.
    private func takeBeginning() -> [UInt8] {
        guard !hasBegun else { return [] }
        hasBegun = true
        return document.begin()
    }
}
