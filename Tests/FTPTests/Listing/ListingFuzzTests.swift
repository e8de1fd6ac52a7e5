import Foundation
import LoadingKitFTP
import TestSupport
import Testing

/// Any bytes are accepted, or give a typed error; nothing traps, and cuts make no difference.
@Suite struct ListingFuzzTests {
    /// Words that lines of all formats are made of, so that random lines come near to right ones.
    private static let words = [
        "-rw-r--r--", "drwxr-xr-x", "lrwxrwxrwx", "d", "-", "1", "4,", "0", "531", "18446744073709551616",
        "Jan", "Feb", "29", "30", "29.", "2024", "03:26", "03:26:15", "24:61", "+0130", "-9999", "09-26",
        "2024-01-29", "9999-12-31", "0000-00-00", "04-27-00", "09:09PM", "<DIR>", "<JUNCTION>", "name", "a", "->", ".",
        "..", ";1", "\tn", "02/23/00", "type=file;", "type=OS.unix=slink:", "size=", "modify=20260131230509;", "=", ";",
        "total", "[", "]",
        "é", "\u{0}", "\r", "\n", "\r\n", " ", "  ", "\t",
    ].map { Array($0.utf8) }

    @Test(arguments: 0..<8) func randomListings(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<400 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0: bytes.append(UInt8.random(in: 0...255, using: &random))
                case 1: bytes += Array(repeating: 0x20, count: Int.random(in: 0...20, using: &random))
                default:
                    bytes += Self.words.randomElement(using: &random) ?? []
                    if Bool.random(using: &random) { bytes.append(0x20) }
                }
            }
            var limits = FTPLimits()
            limits.listingLineLength = Int.random(in: 0...300, using: &random)
            let now = [Int64.min, 0, ReadListing.now, .max].randomElement(using: &random) ?? 0
            for format in [FTPListingParser.Format.mlsd, .list(now: now)] {
                let whole = ReadListing([bytes], as: format, limits: limits)
                #expect(ReadListing(bytes.map { [$0] }, as: format, limits: limits) == whole)
                var parser = FTPListingParser(format: format)
                let entries = try parser.receive(bytes) + parser.finish()
                try expectHarmless(entries)
            }
        }
    }

    private func expectHarmless(_ entries: [FTPEntry]) throws {
        var json = FTPListingJSON()
        let text = json.begin() + entries.flatMap { json.row(for: $0) } + json.end(unreadableLineCount: 0)
        let values = try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
        #expect((values?["entries"] as? [Any])?.count == entries.count)
        let page = FTPListingPage(path: entries.first?.name ?? [])
        for entry in entries {
            #expect(!entry.name.isEmpty && entry.text != "." && entry.text != "..")
            let row = String(decoding: page.row(for: entry), as: UTF8.self)
            #expect(row.filter { $0 == "\n" }.count == 1)
        }
    }
}
