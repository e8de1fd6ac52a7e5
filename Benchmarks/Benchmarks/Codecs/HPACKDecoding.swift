import LoadingKitHPACK

/// Decoding stories, each with a decoder of its own, as on a new connection.
///
/// nghttp2 gives each field as a pair of pointers that hold until the next one; LoadingKit fills a list that stays, with
/// well-known names recognised and all rules for fields checked.
struct HPACKDecoding {
    let name: String
    let stories: [HeaderStory]

    func register() {
        let blocks = stories.map(\.blocks)
        Comparison(
            subject: .hpack, name: "decoding, \(name)", unit: "ns a list",
            amount: Double(blocks.reduce(0) { $0 + $1.count }),
            contenders: [
                .ours { try blocks.reduce(0) { $0 + (try Self.ours($1)) } },
                Contender(NGHTTP2Inflater.name) { try blocks.reduce(0) { $0 + (try Self.peer($1)) } },
            ],
            verify: { try stories.forEach(Self.verify) }
        ).register()
    }

    /// The lists' size as RFC 9113 counts it.
    private static func ours(_ blocks: [[UInt8]]) throws -> Int {
        var decoder = HPACKDecoder()
        var list = HPACKHeaderList()
        var sum = 0
        for block in blocks {
            try block.withUnsafeBytes { try decoder.decode($0, into: &list) }
            sum += list.uncompressedBytes
        }
        return sum
    }

    private static func peer(_ blocks: [[UInt8]]) throws -> Int {
        let inflater = try NGHTTP2Inflater()
        var sum = 0
        for block in blocks { try inflater.decode(block) { sum += $0.namelen + $0.valuelen + 32 } }
        return sum
    }

    private static func verify(_ story: HeaderStory) throws {
        var decoder = HPACKDecoder()
        let inflater = try NGHTTP2Inflater()
        for (list, block) in zip(story.lists, story.blocks) {
            try Disagreement.check("LoadingKit's list, and the story's", HeaderList(decoder.decode(block)), list)
            try Disagreement.check("nghttp2's list, and the story's", inflater.decode(block), list)
        }
    }
}
