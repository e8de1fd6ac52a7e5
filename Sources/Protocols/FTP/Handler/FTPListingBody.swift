import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitPrimitives

/// Makes a response's body of what a server sends as a listing, a piece at a time.
struct FTPListingBody {
    private enum Document {
        case page(FTPListingPage)
        case json(FTPListingJSON)
    }

    private var parser: FTPListingParser
    private var document: Document

    init(_ request: FTPRequest, isMachineListing: Bool) {
        let now = Int64(Date().timeIntervalSince1970)
        parser = FTPListingParser(format: isMachineListing ? .mlsd : .list(now: now))
        let endsInSlash = request.url.path(percentEncoded: true).hasSuffix("/")
        document =
            request.wantsJSON
            ? .json(FTPListingJSON())
            : .page(FTPListingPage(path: request.transfer.path.whole, endsInSlash: endsInSlash))
    }

    func begin() -> [UInt8] {
        switch document {
        case .page(let page): page.begin()
        case .json(let json): json.begin()
        }
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(FTPListingError) -> [UInt8] {
        rows(try parser.receive(bytes))
    }

    mutating func finish() throws(FTPListingError) -> [UInt8] {
        let rest = rows(try parser.finish())
        let count = parser.unreadableLineCount
        switch document {
        case .page(let page): return rest + page.end(unreadableLineCount: count)
        case .json(let json): return rest + json.end(unreadableLineCount: count)
        }
    }

    private mutating func rows(_ entries: [FTPEntry]) -> [UInt8] {
        var bytes: [UInt8] = []
        switch document {
        case .page(let page): for entry in entries { bytes += page.row(for: entry) }
        case .json(var json):
            for entry in entries { bytes += json.row(for: entry) }
            document = .json(json)
        }
        return bytes
    }
}
