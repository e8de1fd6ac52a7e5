import Figures
import LoadingKitHPACK

/// Encoding stories, each with an encoder of its own, as on a new connection.
struct HPACKEncoding {
    let name: String
    let stories: [HeaderStory]

    /// A list as each contender takes it.
    private struct Message {
        let pseudoFields: HPACKPseudoFields
        let fields: HTTPFields
        let list: NGHTTP2List

        init(_ list: HeaderList) {
            pseudoFields = list.pseudoFields
            fields = list.fields
            self.list = NGHTTP2List(list)
        }
    }

    func register() throws {
        let ours = try size(Self.oursBlocks)
        let peer = try size(Self.peerBlocks)
        let stories = stories.map { $0.lists.map(Message.init) }
        let buffer = OutputBuffer()
        Comparison(
            subject: .hpack, name: "encoding, \(name)", unit: "ns a list",
            amount: Double(stories.reduce(0) { $0 + $1.count }),
            contenders: [
                .ours(figures: ours) { stories.reduce(0) { $0 + Self.ours($1, into: buffer) } },
                Contender(NGHTTP2Deflater.name, figures: peer) { try stories.reduce(0) { $0 + (try Self.peer($1)) } },
            ],
            verify: { try self.stories.forEach(Self.verify) }
        ).register()
    }

    /// The number of lists: encoders differ in what they put into the table, and so in the blocks' length.
    private static func ours(_ messages: [Message], into buffer: OutputBuffer) -> Int {
        var encoder = encoder()
        for message in messages {
            _ = buffer.fill { encoder.encode(message.pseudoFields, message.fields, into: &$0) }
        }
        return messages.count
    }

    private static func peer(_ messages: [Message]) throws -> Int {
        let deflater = try NGHTTP2Deflater()
        return try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 64) { output in
            for message in messages { _ = try deflater.encode(message.list, into: output) }
            return messages.count
        }
    }

    /// Does not take cookies apart, as nghttp2 does not either.
    private static func encoder() -> HPACKEncoder {
        var encoder = HPACKEncoder()
        encoder.splitsCookies = false
        return encoder
    }

    private static func oursBlocks(_ story: HeaderStory) -> [[UInt8]] {
        var encoder = encoder()
        return story.lists.map { list in
            var block: [UInt8] = []
            encoder.encode(list.pseudoFields, list.fields, into: &block)
            return block
        }
    }

    private static func peerBlocks(_ story: HeaderStory) throws -> [[UInt8]] {
        let deflater = try NGHTTP2Deflater()
        return try story.lists.map { try deflater.encode(NGHTTP2List($0)) }
    }

    /// How long the blocks are: speed that costs size is no gain.
    private func size(_ encode: (HeaderStory) throws -> [[UInt8]]) throws -> [Figure] {
        let blocks = try stories.flatMap(encode)
        let sum = blocks.reduce(0) { $0 + $1.count }
        return [Figure("size", unit: "bytes a list", samples: [Double(sum) / Double(blocks.count)])].compactMap { $0 }
    }

    /// Each decodes what the other has encoded.
    private static func verify(_ story: HeaderStory) throws {
        var decoder = HPACKDecoder()
        let inflater = try NGHTTP2Inflater()
        for (list, block) in zip(story.lists, oursBlocks(story)) {
            try Disagreement.check("LoadingKit's block, and its list", inflater.decode(block), list)
        }
        for (list, block) in zip(story.lists, try peerBlocks(story)) {
            try Disagreement.check("nghttp2's block, and its list", HeaderList(decoder.decode(block)), list)
        }
    }
}
