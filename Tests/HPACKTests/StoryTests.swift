import LoadingKitHPACK
import Testing

/// Header lists that share a dynamic table, as a connection has them: what is encoded is decoded, in few bytes.
@Suite struct StoryTests {
    /// A page with its pictures, and what a program sends to an interface.
    private static let requests: [[Pair]] = (0..<20).map { number in
        [
            Pair(":method", number % 5 == 4 ? "POST" : "GET"), Pair(":scheme", "https"),
            Pair(":authority", number % 4 == 3 ? "images.example.com" : "www.example.com"),
            Pair(":path", number == 0 ? "/" : "/pictures/\(number)?size=\(number * 37)"),
            Pair("user-agent", "LoadingKit/1.0 (Linux)"), Pair("accept", number == 0 ? "text/html" : "image/*"),
            Pair("accept-encoding", "gzip, deflate"), Pair("accept-language", "de-AT, de;q=0.9, en;q=0.5"),
            Pair("cookie", "session=0123456789abcdef0123456789abcdef; seen=\(number / 7)"),
            Pair("authorization", "Bearer \(number / 10)"), Pair("x-empty", ""), Pair("x-twice", "1"),
            Pair("x-twice", "2"),
        ]
    }

    private static let responses: [[Pair]] = (0..<20).map { number in
        [
            Pair(":status", number % 6 == 5 ? "404" : "200"), Pair("content-type", "image/webp"),
            Pair("content-length", "\(number * 7919)"), Pair("date", "Sun, 06 Nov 1994 08:49:3\(number / 3) GMT"),
            Pair("etag", "\"\(number * 104_729)\""), Pair("cache-control", "max-age=31536000, immutable"),
            Pair("x-bytes", String((0...UInt8.max).filter { $0 >= 0x20 && $0 != 0x7F }.map { Character(.init($0)) })),
        ]
    }

    /// Tables of the default size, of none, of one in which entries push others out, and of one that holds all.
    @Test(arguments: [4096, 0, 100, 1 << 20], [false, true])
    func decodesWhatItEncodes(tableSize: Int, splitsCookies: Bool) throws {
        for (name, lists) in [("requests", Self.requests), ("responses", Self.responses)] {
            try expectRoundTrip(lists, tableSize: tableSize, splitsCookies: splitsCookies, name)
        }
    }

    @Test func compresses() {
        let (raw, encoded) = encodedSize(Self.requests)
        #expect(encoded * 100 < raw * 20, "\(encoded) of \(raw)")
    }

    /// RFC 7541 §4.2: a decoder that changes its maximum within a series is told of it in the next block.
    @Test func theTableChangesItsSize() throws {
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        for (index, list) in Self.responses.enumerated() {
            if index % 3 == 0 {
                let size = [4096, 0, 200, 60][index / 3 % 4]
                encoder.setMaximumTableSize(size)
                decoder.setMaximumTableSize(size)
            }
            #expect(try decoder.decode(encode(list, with: &encoder)).pairs == sorted(list), "\(index)")
            #expect(encoder.tableSize == decoder.tableSize)
        }
    }
}
