import Foundation
import LoadingKit
import Testing

@testable import LoadingKitArchives

@Suite struct MemberDecoderTests {
    private func decode(_ builder: ArchiveBuilder, by size: Int = .max, cut: Int = 0) throws -> [UInt8] {
        let file = try builder.make()
        let entry = try #require(Array(try CentralDirectoryTests.directory(builder).entries).first)
        let header = try #require(try LocalHeader(file, of: entry))
        var rest = Data(file[header.size..<header.size + Int(entry.compressedSize) - cut])
        var decoder = try MemberDecoder(entry, maximumRatio: .max)
        var content: [UInt8] = []
        while !rest.isEmpty {
            decoder.receive(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let piece = try decoder.next() { content += piece }
        }
        try decoder.finish()
        return content
    }

    @Test func contentInPiecesOfAnySize() throws {
        let text = Array(String(repeating: "all work and no play makes a test ", count: 300).utf8)
        for content in [[], [1], text, noise(70_000)] {
            for method: UInt16 in [0, 8] {
                let builder = ArchiveBuilder(.init("a", content, method: method))
                for size in [1, 2, 7, 1000, .max] where size > 1 || content.count < 20_000 {
                    #expect(try decode(builder, by: size) == content)
                }
            }
        }
    }

    @Test func whatIsWrongIsRefused() throws {
        let content = noise(1000)
        let member = ArchiveBuilder.Member("a", content, method: 8)
        let data = try ArchiveBuilder.deflate(content)
        let zeros = [UInt8](repeating: 0, count: 5_000_000)
        let cases: [(String, ArchiveBuilder.Member, Int)] = [
            ("a wrong checksum", member.with { $0.checksum = 1 }, 0),
            ("a stored one with a wrong checksum", .init("a", content).with { $0.checksum = 1 }, 0),
            ("more than stated", member.with { $0.size = 999 }, 0),
            ("less than stated", member.with { $0.size = 1001 }, 0),
            ("two sizes of a stored one", .init("a", content).with { $0.size = 999 }, 0),
            ("bytes behind the stream", member.with { $0.data = data + [0] }, 0),
            ("half a stream", member.with { $0.data = Array(data.prefix(500)) }, 0),
            ("no deflate", member.with { $0.data = Array(repeating: 0xFF, count: 100) }, 0),
            ("cut data", member, 1), ("another method", member.with { $0.method = 12 }, 0),
            ("a bomb", .init("a", zeros, method: 8).with { $0.size = 10 }, 0),
        ]
        for (name, member, cut) in cases {
            #expect(throws: ArchiveError.self, "\(name)") { try decode(ArchiveBuilder(member), cut: cut) }
        }
    }

    /// A member's content never exceeds its stated size, and no piece is large.
    @Test func aBombIsCutAtItsStatedSize() throws {
        let zeros = ArchiveBuilder.Member("a", [UInt8](repeating: 0, count: 5_000_000), method: 8)
        let builder = ArchiveBuilder(zeros.with { $0.size = 100_000 })
        let file = try builder.make()
        let entry = try #require(Array(try CentralDirectoryTests.directory(builder).entries).first)
        var decoder = try MemberDecoder(entry, maximumRatio: .max)
        decoder.receive(Data(file[31..<31 + Int(entry.compressedSize)]))
        var (given, largest) = (0, 0)
        #expect(throws: ArchiveError.self) {
            while let piece = try decoder.next() {
                given += piece.count
                largest = max(largest, piece.count)
            }
        }
        #expect(given <= 100_000 && largest <= 65_537)
    }

    /// Data behind the deflate stream is refused when it arrives, and not kept: the directory may state gigabytes of it.
    @Test(arguments: [[0], [0x4b, 4, 0], [UInt8](repeating: 0, count: 100_000)])
    func dataBehindTheStreamIsRefusedAtOnce(more: [UInt8]) throws {
        let stream: [UInt8] = [0x4b, 4, 0]
        let builder = ArchiveBuilder(ArchiveBuilder.Member("a", "a", method: 8).with { $0.data = stream })
        var entry = try #require(Array(try CentralDirectoryTests.directory(builder).entries).first)
        entry.compressedSize = 4 << 30
        for isOnePiece in [false, true] {
            var decoder = try MemberDecoder(entry, maximumRatio: .max)
            decoder.receive(Data(stream + (isOnePiece ? more : [])))
            #expect(try decoder.next() == Data("a".utf8))
            if !isOnePiece {
                #expect(try decoder.next() == nil)
                decoder.receive(Data(more))
            }
            let reason = "its deflate stream ends before its data does"
            #expect(throws: ArchiveError.corruptMember("a", reason: reason)) { try decoder.next() }
        }
    }

    /// What a member's data gives in pieces of a size: the number of bytes, and the error.
    private func outcome(
        _ entry: DirectoryEntry, _ data: Data, by size: Int, ratio: Int
    ) throws -> (content: Data, error: (any Error)?) {
        var decoder = try MemberDecoder(entry, maximumRatio: ratio, minimumSize: 1000)
        var (rest, content) = (data, Data())
        do {
            while !rest.isEmpty {
                decoder.receive(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let piece = try decoder.next() { content += piece }
            }
            try decoder.finish()
            return (content, nil)
        } catch {
            return (content, error)
        }
    }

    /// Blocks of 16 KiB of data count, so that pieces of any size have the same outcome, and the same first error.
    @Test func theBoundDoesNotDependOnHowTheDataArrives() throws {
        let zeros = [UInt8](repeating: 0, count: 200_000)
        let (end, noise) = (Array("the end".utf8), noise(20_000))
        let corrupt = Array(try ArchiveBuilder.deflate(zeros).dropLast(10)) + [UInt8](repeating: 0xFF, count: 30)
        let cases: [(String, ArchiveBuilder.Member, ratio: Int, error: String?)] = [
            ("zeros within the bound", .init("a", zeros, method: 8), 13, nil),
            ("zeros beyond it", .init("a", zeros, method: 8), 12, "expandsTooFar"),
            ("noise before zeros, within", .init("a", noise + zeros, method: 8), 7, nil),
            ("noise before zeros, beyond", .init("a", noise + zeros, method: 8), 6, "expandsTooFar"),
            ("zeros before noise, beyond", .init("a", zeros + noise, method: 8), 12, "expandsTooFar"),
            (
                "more than stated, and beyond", .init("a", zeros, method: 8).with { $0.size = 199_000 }, 12,
                "expandsTooFar"
            ),
            ("more than stated", .init("a", zeros, method: 8).with { $0.size = 100_000 }, 12, "corruptMember"),
            ("corrupt, and beyond", .init("a", zeros, method: 8).with { $0.data = corrupt }, 11, "expandsTooFar"),
            ("corrupt", .init("a", zeros, method: 8).with { $0.data = corrupt }, 13, "corruptMember"),
            ("stored", .init("a", zeros + end), 1, nil),
        ]
        for (name, member, ratio, error) in cases {
            let builder = ArchiveBuilder(member)
            let file = try builder.make()
            let entry = try #require(Array(try CentralDirectoryTests.directory(builder).entries).first)
            let header = try #require(try LocalHeader(file, of: entry))
            let data = Data(file[header.size..<header.size + Int(entry.compressedSize)])
            let whole = try outcome(entry, data, by: data.count, ratio: ratio)
            #expect(whole.error.flatMap { Mirror(reflecting: $0).children.first?.label } == error, "\(name)")
            let sizes = data.count < 1000 ? Array(1..<data.count) : [1, 2, 100, 1000, 16_383, 16_384, 16_385, 19_999]
            for size in sizes {
                let divided = try outcome(entry, data, by: size, ratio: ratio)
                #expect(divided.error.map { "\($0)" } == whole.error.map { "\($0)" }, "\(name), pieces of \(size)")
                if error == nil { #expect(divided.content == whole.content, "\(name), pieces of \(size)") }
            }
        }
    }
}

@Suite struct MemberRequestTests {
    private func answer(
        _ fields: [String: String], size: Int64 = 100, method: String = "GET"
    ) throws -> MemberRequest.Answer {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return try MemberRequest(request).answer(size: size, entityTag: "\"t\"", lastModified: "then")
    }

    @Test func rangesAndConditions() throws {
        let table: [([String: String], MemberRequest.Answer)] = [
            ([:], .whole), (["Range": "bytes=0-"], .part(0..<100)), (["Range": "bytes=10-19"], .part(10..<20)),
            (["Range": "bytes=90-1000"], .part(90..<100)), (["Range": "bytes=-10"], .part(90..<100)),
            (["Range": "bytes=-1000"], .part(0..<100)), (["Range": "Bytes=99-"], .part(99..<100)),
            (["Range": "bytes=100-"], .unsatisfiable), (["Range": "bytes=-0"], .unsatisfiable),
            (["Range": "bytes=99999999999999999999-"], .unsatisfiable),
            (["Range": "bytes=0-99999999999999999999"], .part(0..<100)),
            (["Range": "bytes=5-4"], .whole), (["Range": "bytes=-"], .whole), (["Range": "bytes=1-2,4-5"], .whole),
            (["Range": "bytes=a-b"], .whole), (["Range": "lines=1-2"], .whole), (["Range": "bytes=+1-2"], .whole),
            (["Range": "bytes=1-", "If-Range": "\"t\""], .part(1..<100)),
            (["Range": "bytes=1-", "If-Range": "then"], .part(1..<100)),
            (["Range": "bytes=1-", "If-Range": "\"u\""], .whole),
            (["Range": "bytes=1-", "If-Range": "W/\"t\""], .whole),
            (["If-None-Match": "\"x\", \"t\""], .notModified), (["If-None-Match": "*"], .notModified),
            (["If-None-Match": "\"x\"", "If-Modified-Since": "then"], .whole),
            (["If-Modified-Since": "then"], .notModified),
        ]
        for (fields, expected) in table {
            let found = try answer(fields)
            #expect(found == expected, "\(fields)")
        }
        #expect(try answer(["Range": "bytes=0-"], size: 0) == .unsatisfiable)
        #expect(try answer(["Range": "bytes=-5"], size: 0) == .whole)
        #expect(try answer(["Range": "bytes=0-9"], size: .max) == .part(0..<10))
        #expect(try answer(["Range": "bytes=1-"], method: "HEAD") == .whole)
        #expect(throws: ArchiveError.unsupportedMethod("POST")) { try answer([:], method: "POST") }
    }

    @Test func versions() {
        let known = ArchiveVersion(total: 5, entityTag: "\"a\"", lastModified: "then")
        #expect(known.agrees(with: ArchiveVersion(total: 5)))
        #expect(known.agrees(with: ArchiveVersion(total: nil, entityTag: "\"a\"")))
        for other in [
            ArchiveVersion(total: 6), ArchiveVersion(total: 5, entityTag: "\"b\""),
            ArchiveVersion(total: 5, lastModified: "now"),
        ] { #expect(!known.agrees(with: other)) }
        #expect(known.ifRange == "\"a\"" && ArchiveVersion(total: 5, entityTag: "W/\"a\"").ifRange == nil)
        #expect(!ArchiveVersion(total: 5).hasValidator)
    }
}

@Suite struct MemberPlanTests {
    private func plan(
        size: Int64, end: Int64, method: UInt16 = 0, part: Range<Int64>? = nil, flags: UInt16 = 0
    ) throws -> MemberPlan {
        let builder = ArchiveBuilder(.init("a").with { $0.flags = flags })
        var entry = try #require(Array(try CentralDirectoryTests.directory(builder).entries).first)
        (entry.method, entry.size, entry.compressedSize) = (method, size, size)
        return try MemberPlan(.init(entry: entry, end: end), part: part)
    }

    @Test func firstRanges() throws {
        // Includes a small gap between the members; otherwise some room for the header.
        #expect(try plan(size: 100, end: 131 + 5000).first == 0..<5131)
        #expect(try plan(size: 100, end: 1_000_000).first == 0..<31 + 64 + 100)
        #expect(try plan(size: 1_000_000, end: 1_000_031, part: 10..<20).first == 0..<31 + 64 + 20)
        #expect(try plan(size: 1_000_000, end: 1_000_031, part: 500_000..<500_010).first == 0..<31 + 64)
        #expect(try plan(size: 1_000_000, end: 1_000_031, method: 8, part: 500_000..<500_010).first == 0..<1_000_031)
    }

    @Test func refusals() throws {
        #expect(throws: ArchiveError.overlapping("a")) { try plan(size: 101, end: 131) }
        #expect(throws: ArchiveError.overlapping("a")) { try plan(size: .max, end: 131) }
        #expect(throws: ArchiveError.overlapping("a")) { try plan(size: 0, end: 10) }
        for flags: UInt16 in [1, 1 << 6, 1 << 13] {
            #expect(throws: ArchiveError.encrypted("a")) { try plan(size: 1, end: 100, flags: flags) }
        }
        #expect(throws: ArchiveError.unsupportedCompression(member: "a", method: 93)) {
            try plan(size: 1, end: 100, method: 93)
        }
    }
}

@Suite struct ArchiveURLTests {
    @Test func parts() throws {
        let table: [(String, String, String)] = [
            ("zip:https://host/file.whl!/a/b.txt", "https://host/file.whl", "a/b.txt"),
            ("ZIP:https://host/f.zip?x=1!/a#fragment", "https://host/f.zip?x=1", "a"),
            ("zip:https://u:p@host/f.zip!/", "https://u:p@host/f.zip", ""),
            ("zip:https://host/a!/b.zip!/c", "https://host/a!/b.zip", "c"),
            ("zip:file:///tmp/a%20b.zip!/c%21/d", "file:///tmp/a%20b.zip", "c!/d"),
            ("zip:https://host/f.zip!/../up", "https://host/f.zip", "../up"),
            ("zip:https://host/f.zip!/what?.txt", "https://host/f.zip", "what?.txt"),
            ("zip:https://host/f.zip!/é b", "https://host/f.zip", "é b"),
        ]
        for (text, archive, member) in table {
            let parsed = try ArchiveURL(try #require(URL(string: text)))
            #expect(parsed.archive.absoluteString == archive && parsed.member == member, "\(text)")
            let again = try ArchiveURL(try #require(parsed.url))
            #expect(again == parsed, "\(text)")
        }
        #expect(try ArchiveURL(try #require(URL(string: "zip:https://h/f!/%82"))).memberBytes == [0x82])
        for text in ["zip:https://host/file", "zip:!/a", "zip:/path!/a", "http://host/a!/b", "zip:zip:file:///a!/b!/c"]
        {
            let url = try #require(URL(string: text))
            #expect(throws: ArchiveError.self, "\(text)") { try ArchiveURL(url) }
        }
    }

    @Test func namesAsJSON() throws {
        let text = "a\"\\\n\u{0}\u{7F}é☃/"
        let builder = ArchiveBuilder(.init(text).with { $0.flags = 1 << 11 })
        let archive = try #require(URL(string: "http://u:p@host/a.zip"))
        var writer = ListingWriter(try CentralDirectoryTests.directory(builder), prefix: "", archive: archive)
        var listing = Data()
        while let piece = writer.next() { listing += piece }
        let parsed = try JSONDecoder().decode(ArchiveListing.self, from: listing)
        #expect(parsed.members.map(\.name) == [text] && parsed.archive == "http://host/a.zip")
    }
}

@Suite struct DirectoryCacheTests {
    @Test func boundsAndKeys() throws {
        var limits = ArchiveLimits()
        let directory = try CentralDirectoryTests.directory(ArchiveBuilder(.init("abcd", "x")))
        #expect(directory.size == 50)
        (limits.cachedDirectories, limits.cachedDirectoryCount) = (120, 10)
        let cache = DirectoryCache(limits)
        func key(_ name: String, _ fields: [String: String] = [:]) throws -> DirectoryCache.Key {
            DirectoryCache.Key(try #require(URL(string: "https://host/\(name)")), fields)
        }
        let entry = DirectoryCache.Entry(directory: directory, version: ArchiveVersion(total: 1, entityTag: "\"a\""))
        cache.store(entry, for: try key("a"))
        cache.store(entry, for: try key("b"))
        #expect(cache.entry(for: try key("a")) != nil)
        #expect(cache.entry(for: try key("a", ["cookie": "x"])) == nil)
        cache.store(entry, for: try key("c"))
        // The least recently used one was removed.
        #expect(cache.count == 2 && cache.size == 100)
        #expect(cache.entry(for: try key("a")) != nil)
        #expect(cache.entry(for: try key("b")) == nil)
        cache.store(entry, for: try key("a"))
        #expect(cache.size == 100)
        cache.remove(try key("a"))
        cache.store(.init(directory: directory, version: ArchiveVersion(total: 1)), for: try key("d"))
        #expect(cache.count == 1 && cache.size == 50)
        limits.cachedDirectoryCount = 0
        let none = DirectoryCache(limits)
        none.store(entry, for: try key("a"))
        #expect(none.count == 0)
    }
}
