import LoadingKitHPACK
import Testing

/// The examples of RFC 7541, appendix C.
@Suite struct AppendixCTests {
    struct Example: Sendable {
        var block: String
        var pairs: [Pair]
        var tableSize: Int
        var tableCount: Int
    }

    private static let c3: [Example] = [
        Example(
            block: "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", pairs: request("http", "/"), tableSize: 57,
            tableCount: 1),
        Example(
            block: "8286 84be 5808 6e6f 2d63 6163 6865",
            pairs: request("http", "/") + [Pair("cache-control", "no-cache")], tableSize: 110, tableCount: 2),
        Example(
            block: "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
            pairs: request("https", "/index.html") + [Pair("custom-key", "custom-value")], tableSize: 164,
            tableCount: 3),
    ]

    private static let c4: [Example] = zip(
        c3,
        [
            "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", "8286 84be 5886 a8eb 1064 9cbf",
            "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
        ]
    ).map { example, block in
        Example(block: block, pairs: example.pairs, tableSize: example.tableSize, tableCount: example.tableCount)
    }

    private static let c6: [Example] = [
        Example(
            block: """
                4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad
                1718 63c7 8f0b 97c8 e9ae 82ae 43d3
                """, pairs: response("302", "Mon, 21 Oct 2013 20:13:21 GMT"), tableSize: 222, tableCount: 4),
        Example(
            block: "4883 640e ffc1 c0bf", pairs: response("307", "Mon, 21 Oct 2013 20:13:21 GMT"), tableSize: 222,
            tableCount: 4),
        Example(
            block: """
                88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2
                e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07
                """,
            pairs: response("200", "Mon, 21 Oct 2013 20:13:22 GMT") + [
                Pair("content-encoding", "gzip"),
                Pair("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"),
            ], tableSize: 215, tableCount: 3),
    ]

    /// Appendix C.5 is C.6 without Huffman coding.
    private static let c5: [Example] = zip(
        c6,
        [
            """
            4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32
            3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d
            """, "4803 3330 37c1 c0bf",
            """
            88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970
            7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61
            6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31
            """,
        ]
    ).map { example, block in
        Example(block: block, pairs: example.pairs, tableSize: example.tableSize, tableCount: example.tableCount)
    }

    private static func request(_ scheme: String, _ path: String) -> [Pair] {
        [
            Pair(":method", "GET"), Pair(":scheme", scheme), Pair(":authority", "www.example.com"),
            Pair(":path", path),
        ]
    }

    private static func response(_ status: String, _ date: String) -> [Pair] {
        let fields = [
            Pair("cache-control", "private"), Pair("date", date), Pair("location", "https://www.example.com"),
        ]
        return [Pair(":status", status)] + fields
    }

    @Test func literals() throws {
        let cases: [(String, Pair, Int)] = [
            (
                "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", Pair("custom-key", "custom-header"),
                55
            ),
            ("040c 2f73 616d 706c 652f 7061 7468", Pair(":path", "/sample/path"), 0),
            ("1008 7061 7373 776f 7264 0673 6563 7265 74", Pair("password", "secret"), 0),
            ("82", Pair(":method", "GET"), 0),
        ]
        for (block, pair, size) in cases {
            var decoder = HPACKDecoder()
            #expect(try decoder.decode(bytes(block)).pairs == [pair])
            #expect(decoder.tableSize == size)
        }
    }

    @Test(arguments: [("C.3", 4096, c3), ("C.4", 4096, c4), ("C.5", 256, c5), ("C.6", 256, c6)])
    func series(_ name: String, tableSize: Int, examples: [Example]) throws {
        var decoder = HPACKDecoder(maximumTableSize: tableSize)
        for (index, example) in examples.enumerated() {
            let list = try decoder.decode(bytes(example.block))
            #expect(list.pairs == example.pairs, "\(name).\(index + 1)")
            #expect(decoder.tableSize == example.tableSize && decoder.tableCount == example.tableCount)
            #expect(list.malformation == [] && !list.exceedsLimits)
        }
    }

    /// The encoder chooses what appendix C.4 does, but for the order of `:authority` and `:path`.
    @Test func encodesLikeC4() throws {
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        let scheme = ["http", "http", "https"]
        let path = ["/", "/", "/index.html"]
        let more = [fields([:]), fields(["Cache-Control": "no-cache"]), fields(["custom-key": "custom-value"])]
        for (index, example) in Self.c4.enumerated() {
            let block = encoder.encode(
                .request(method: "GET", scheme: scheme[index], authority: "www.example.com", path: path[index]),
                more[index])
            #expect(try decoder.decode(block).pairs == example.pairs)
            #expect(block.count == bytes(example.block).count)
            #expect(encoder.tableSize == example.tableSize)
        }
    }
}
