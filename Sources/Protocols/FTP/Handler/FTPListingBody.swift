import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitPrimitives

/// Makes a response's body of what a server sends as a listing, a piece at a time.
final class FTPListingBody {
    private var parser: FTPListingParser
    private var document: any ListingDocument

    init(_ request: FTPRequest, isMachineListing: Bool) {
        let now = Int64(Date().timeIntervalSince1970)
        parser = FTPListingParser(format: isMachineListing ? .mlsd : .list(now: now))
        let endsInSlash = request.url.path(percentEncoded: true).hasSuffix("/")
        document =
            request.wantsJSON
            ? FTPListingJSON() : FTPListingPage(path: request.transfer.path.whole, endsInSlash: endsInSlash)
    }

    func begin() -> [UInt8] { document.begin() }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(FTPListingError) -> [UInt8] {
        rows(try parser.receive(bytes))
    }

    func finish() throws(FTPListingError) -> [UInt8] {
        rows(try parser.finish()) + document.end(unreadableLineCount: parser.unreadableLineCount)
    }

    private func rows(_ entries: [FTPEntry]) -> [UInt8] { entries.flatMap { document.row(for: $0) } }
}

private protocol ListingDocument {
    func begin() -> [UInt8]
    mutating func row(for entry: FTPEntry) -> [UInt8]
    func end(unreadableLineCount: Int) -> [UInt8]
}

extension FTPListingPage: ListingDocument {}
extension FTPListingJSON: ListingDocument {}
