import LoadingKitHPACK
import TestSupport
import Testing

@Suite struct EncoderTests {
    private let request = HPACKPseudoFields.request(
        method: "GET", scheme: "https", authority: "www.example.com", path: "/a/rather/long/path?with=a&query=0")

    private let requestFields = fields([
        "User-Agent": "LoadingKit/1.0 (Linux)", "Accept": "*/*", "Accept-Encoding": "gzip, deflate",
        "Accept-Language": "de-AT, de;q=0.9", "X-Custom": "something of its own",
        "Cookie": "session=0123456789abcdef0123456789abcdef",
    ])

    @Test func aSecondRequestCostsFewBytes() {
        var encoder = HPACKEncoder()
        let first = encoder.encode(request, requestFields)
        let second = encoder.encode(request, requestFields)
        #expect(first.count > 100)
        #expect(second.count < 11, "\(second.count)")
        #expect(second.allSatisfy { $0 & 0x80 != 0 })
    }

    @Test func staticFieldsAreOneByte() {
        var encoder = HPACKEncoder()
        let block = encoder.encode(
            .request(method: "POST", scheme: "https", authority: nil, path: "/index.html"),
            fields(["Accept-Encoding": "gzip, deflate"]))
        #expect(block == [0x83, 0x87, 0x85, 0x90])
        for (status, byte) in [
            (200, 0x88), (204, 0x89), (206, 0x8A), (304, 0x8B), (400, 0x8C), (404, 0x8D), (500, 0x8E),
        ] {
            #expect(encoder.encode(.response(status: status)) == [UInt8(byte)])
        }
        #expect(encoder.tableSize == 0)
    }

    @Test func namesBecomeSmallLetters() throws {
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        let list = try decoder.decode(encoder.encode(.none, fields(["CONTENT-Type": "A/B", "X-Ünï": "É", "": ""])))
        #expect(list.fields.map(\.name) == ["content-type", "x-Ünï", ""])
        #expect(list.fields.map(\.value) == ["A/B", "É", ""])
    }

    @Test func pseudoFieldsOfEachKind() throws {
        let kinds: [(HPACKPseudoFields, [Pair])] = [
            (.none, []), (.response(status: 418), [Pair(":status", "418")]),
            (.connect(authority: "a:443"), [Pair(":method", "CONNECT"), Pair(":authority", "a:443")]),
            (
                .request(method: "CONNECT", scheme: "https", authority: "a", path: "/", protocol: "websocket"),
                [
                    Pair(":method", "CONNECT"), Pair(":scheme", "https"), Pair(":authority", "a"),
                    Pair(":path", "/"), Pair(":protocol", "websocket"),
                ]
            ),
        ]
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        for (pseudo, pairs) in kinds + kinds {
            let list = try decoder.decode(encoder.encode(pseudo, fields(["a": "b"])))
            #expect(list.pairs == pairs + [Pair("a", "b")] && list.malformation == [])
            #expect(list.encodable == pseudo)
        }
    }

    /// RFC 7541 §7.1.3: marked, in no table, and not found there either.
    @Test func secretsAreNeverIndexed() {
        let secrets: [(String, String)] = [
            ("Authorization", "Basic dXNlcjpwYXNz"), ("Proxy-Authorization", "Bearer x"), ("Cookie", "short=1"),
            ("Cookie", String(repeating: "x", count: 19)), ("Set-Cookie", "a=b; Max-Age=3600; Path=/; Secure"),
            ("X-API-Key", "k"), ("x-csrf-token", "t"), ("Authentication-Info", "nextnonce=1"),
        ]
        for (name, value) in secrets {
            var encoder = HPACKEncoder()
            for _ in 0..<3 {
                var field = HTTPFields()
                field.append(name: name, value: value)
                let block = encoder.encode(.none, field)
                #expect(block[0] & 0xF0 == 0x10, "\(name)")
                #expect(encoder.tableSize == 0, "\(name)")
            }
        }
        var encoder = HPACKEncoder()
        _ = encoder.encode(.none, fields(["Cookie": String(repeating: "x", count: 20)]))
        #expect(encoder.tableSize == 58)
    }

    @Test func whatChangesIsIndexedWhenItComesAgain() {
        var encoder = HPACKEncoder()
        let field = fields(["If-None-Match": "\"0123456789\""])
        #expect(encoder.encode(.none, field).count > 5 && encoder.tableSize == 0)
        #expect(encoder.encode(.none, field).count > 5 && encoder.tableSize > 0)
        #expect(encoder.encode(.none, field).count == 1)
    }

    @Test func largeFieldsPushNothingOut() {
        var encoder = HPACKEncoder()
        _ = encoder.encode(request, requestFields)
        let size = encoder.tableSize
        for letter in ["a", "b", "c", "d", "e", "f"] {
            _ = encoder.encode(.none, fields(["large": String(repeating: letter, count: 1500)]))
            _ = encoder.encode(.none, fields(["larger": String(repeating: letter, count: 5000)]))
            _ = encoder.encode(.none, fields(["larger": String(repeating: letter, count: 5000)]))
        }
        #expect(encoder.tableSize == size)
    }

    @Test func cookiesAreSplit() throws {
        let cases: [(String, [String])] = [
            ("a=1; b=2", ["a=1", "b=2"]), ("a=1", ["a=1"]), ("a=1;b=2; c=3", ["a=1;b=2; c=3"]),
            ("a=1; b=2;", ["a=1", "b=2;"]), ("a=1; ", ["a=1; "]), ("", [""]), ("; a", ["", "a"]), (";", [";"]),
            ("a;  b", ["a;  b"]), ("a; \tb", ["a; \tb"]), ("a ; b", ["a ; b"]), ("a\t; b", ["a\t; b"]),
            ("a; b ; c", ["a", "b ; c"]), ("a; b;  c; d", ["a", "b;  c; d"]),
        ]
        for (value, crumbs) in cases {
            var encoder = HPACKEncoder()
            var decoder = HPACKDecoder()
            let list = try decoder.decode(encoder.encode(.none, fields(["Cookie": value])))
            #expect(list.fields.map(\.value) == crumbs, "\(value)")
            #expect(crumbs.joined(separator: "; ") == value)
            encoder.splitsCookies = false
            #expect(try decoder.decode(encoder.encode(.none, fields(["Cookie": value]))).fields.map(\.value) == [value])
        }
    }

    @Test func tableSizesAreTold() throws {
        let cases: [(preferred: Int, sizes: [Int], prefix: [UInt8])] = [
            (4096, [], []), (4096, [4096], []), (4096, [65536], []), (4096, [0], [0x20]), (4096, [30], [0x3E]),
            (4096, [0, 4096], [0x20, 0x3F, 0xE1, 0x1F]), (4096, [0, 30], [0x20, 0x3E]), (4096, [30, 0], [0x20]),
            (4096, [5000, 100, 4096], [0x3F, 69, 0x3F, 0xE1, 0x1F]), (8192, [8192], [0x3F, 0xE1, 0x3F]),
            (0, [], [0x20]), (0, [65536], [0x20]), (30, [65536], [0x3E]), (8192, [8192, 4096], []), (-5, [-7], [0x20]),
        ]
        for (preferred, sizes, prefix) in cases {
            var encoder = HPACKEncoder(preferredTableSize: preferred)
            for size in sizes { encoder.setMaximumTableSize(size) }
            #expect(encoder.encode(.response(status: 200)) == prefix + [0x88], "\(preferred) \(sizes)")
            #expect(encoder.encode(.response(status: 200)) == [0x88], "\(preferred) \(sizes)")
        }
    }

    @Test func aSmallerTableEvicts() throws {
        var encoder = HPACKEncoder()
        var decoder = HPACKDecoder()
        _ = try decoder.decode(encoder.encode(request, requestFields))
        for size in [100, 4096, 0, 200] {
            encoder.setMaximumTableSize(size)
            decoder.setMaximumTableSize(size)
            for _ in 0..<3 {
                let list = try decoder.decode(encoder.encode(request, requestFields))
                #expect(list.encodable == request && list.fields == requestFields)
                #expect(encoder.tableSize == decoder.tableSize && encoder.tableSize <= size)
            }
        }
    }

    @Test func huffmanOnlyWhereShorter() {
        var encoder = HPACKEncoder()
        #expect(encoder.encode(.none, fields(["etag": "\\\\"])) == [0x0F, 0x13, 2, 0x5C, 0x5C])
        #expect(encoder.encode(.none, fields(["etag": "00"])) == [0x0F, 0x13, 2, 0x30, 0x30])
        #expect(encoder.encode(.none, fields(["etag": "000"])) == [0x0F, 0x13, 0x82, 0, 1])
    }

    /// More entries than the first rings hold, hashes in all buckets, and evictions.
    @Test(arguments: [200, 4096, 60_000])
    func manyFields(tableSize: Int) throws {
        var encoder = HPACKEncoder(preferredTableSize: tableSize)
        var decoder = HPACKDecoder()
        encoder.setMaximumTableSize(tableSize)
        decoder.setMaximumTableSize(tableSize)
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            var list = HTTPFields()
            for _ in 0..<20 {
                let number = Int.random(in: 0..<3000, using: &generator)
                list.append(name: "name\(number % 50)", value: "value\(number)")
            }
            #expect(try decoder.decode(encoder.encode(.none, list)).fields == list)
            #expect(encoder.tableSize == decoder.tableSize)
        }
        #expect(decoder.tableCount > tableSize / 100)
    }
}
