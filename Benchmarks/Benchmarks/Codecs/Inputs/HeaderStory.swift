import LoadingKitHPACK

/// Header lists that go one after the other in one direction of a connection, and their blocks.
struct HeaderStory {
    let lists: [HeaderList]
    /// From an encoder that is none of the contenders for decoding, or from the conformance data.
    let blocks: [[UInt8]]

    /// Encoded by nghttp2.
    init(_ lists: [HeaderList]) throws {
        self.lists = lists
        let deflater = try NGHTTP2Deflater()
        blocks = try lists.map { try deflater.encode(NGHTTP2List($0)) }
    }

    init(_ lists: [HeaderList], blocks: [[UInt8]]) {
        self.lists = lists
        self.blocks = blocks
    }
}
