import LoadingKitHPACK
import Testing

/// The stories of `shared/conformance/hpack`.
@Suite struct ConformanceTests {
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
            var encoder = HPACKEncoder(preferredTableSize: tableSize)
            encoder.splitsCookies = splitsCookies
            encoder.setMaximumTableSize(tableSize)
            var decoder = HPACKDecoder(limits: HPACKLimits())
            decoder.setMaximumTableSize(tableSize)
            for (index, test) in story.cases.enumerated() {
                let list = try decoder.decode(encode(test.pairs, with: &encoder))
                let decoded = splitsCookies ? joiningCookies(list.pairs) : list.pairs
                let expected = splitsCookies ? joiningCookies(sorted(test.pairs)) : sorted(test.pairs)
                if decoded != expected { Issue.record("\(name), case \(index): \(decoded)") }
                #expect(encoder.tableSize == decoder.tableSize && decoder.tableSize <= max(tableSize, 0))
            }
        }
    }

    /// A change that makes blocks longer is to be seen.
    @Test func compresses() throws {
        var raw = 0
        var encoded = 0
        for (_, story) in try Story.stories(in: "raw-data") {
            var encoder = HPACKEncoder()
            for test in story.cases {
                raw += test.pairs.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
                encoded += encode(test.pairs, with: &encoder).count
            }
        }
        #expect(encoded * 100 < raw * 20, "\(encoded) of \(raw)")
    }

    private func encode(_ pairs: [Pair], with encoder: inout HPACKEncoder) -> [UInt8] {
        let pseudo = Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        var fields = HTTPFields()
        for pair in pairs where !pair.name.hasPrefix(":") { fields.append(name: pair.name, value: pair.value) }
        if let status = pseudo[":status"].flatMap({ Int($0) }) {
            return encoder.encode(.response(status: status), fields)
        }
        return encoder.encode(
            .request(
                method: pseudo[":method"] ?? "", scheme: pseudo[":scheme"] ?? "", authority: pseudo[":authority"],
                path: pseudo[":path"] ?? ""),
            fields)
    }

    /// As a receiver puts cookies together again (RFC 9113 §8.2.3).
    private func joiningCookies(_ pairs: [Pair]) -> [Pair] {
        let cookies = pairs.filter { $0.name == "cookie" }.map(\.value)
        return pairs.filter { $0.name != "cookie" }
            + (cookies.isEmpty ? [] : [Pair("cookie", cookies.joined(separator: "; "))])
    }
}
