import LoadingKitHPACK
import TestSupport
import Testing

/// The stories of hpack-test-case.
@Suite(.requires(.hpack)) struct ConformanceTests {
    @Test(arguments: ["nghttp2", "nghttp2-change-table-size", "go-hpack"])
    func decodes(_ folder: String) throws {
        let stories = try Story.stories(in: folder)
        try #require(stories.count > 4)
        for (name, story) in stories {
            var decoder = HPACKDecoder()
            for (index, test) in story.cases.enumerated() {
                if let size = test.tableSize { decoder.setMaximumTableSize(size) }
                let list = try decoder.decode(bytes(try #require(test.wire)))
                let expected = sorted(test.pairs)
                if list.pairs != expected { Issue.record("\(folder)/\(name), case \(index): \(list.pairs)") }
            }
        }
    }

    @Test(arguments: [4096, 0, 100, 1 << 20], [false, true])
    func decodesWhatItEncodes(tableSize: Int, splitsCookies: Bool) throws {
        for (name, story) in try Story.stories(in: "raw-data") {
            try expectRoundTrip(
                story.cases.map(\.pairs), tableSize: tableSize, splitsCookies: splitsCookies, "\(name)")
        }
    }

    /// A change that makes blocks longer is to be seen.
    @Test func compresses() throws {
        let sizes = try Story.stories(in: "raw-data").map { encodedSize($0.story.cases.map(\.pairs)) }
        let (raw, encoded) = sizes.reduce((0, 0)) { ($0.0 + $1.raw, $0.1 + $1.encoded) }
        #expect(encoded * 100 < raw * 20, "\(encoded) of \(raw)")
    }
}
