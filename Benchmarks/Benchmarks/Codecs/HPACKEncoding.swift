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

    func register() {
        let stories = stories.map { $0.lists.map(Message.init) }
        let buffer = OutputBuffer()
        Comparison(
            subject: .hpack, name: "encoding, \(name)", unit: "ns a list",
            amount: Double(stories.reduce(0) { $0 + $1.count }),
            contenders: [
                .ours { stories.reduce(0) { $0 + Self.ours($1, into: buffer) } },
                Contender(NGHTTP2Deflater.name) { try stories.reduce(0) { $0 + (try Self.peer($1)) } },
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

    /// Each decodes what the other has encoded.
    private static func verify(_ story: HeaderStory) throws {
        var encoder = encoder()
        let deflater = try NGHTTP2Deflater()
        var decoder = HPACKDecoder()
        let inflater = try NGHTTP2Inflater()
        for list in story.lists {
            var block: [UInt8] = []
            encoder.encode(list.pseudoFields, list.fields, into: &block)
            try Disagreement.check("LoadingKit's block, and its list", inflater.decode(block), list)
            let peer = try HeaderList(decoder.decode(deflater.encode(NGHTTP2List(list))))
            try Disagreement.check("nghttp2's block, and its list", peer, list)
        }
    }
}
