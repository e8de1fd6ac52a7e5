import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives
import Testing

@testable import LoadingKitArchives

@Suite struct EndOfCentralDirectoryTests {
    private func search(_ file: [UInt8], tail count: Int? = nil) -> Result<EndOfCentralDirectory.Search, ArchiveError> {
        let tail = Array(file.suffix(count ?? file.count))
        do throws(ArchiveError) {
            return .success(try EndOfCentralDirectory.search(tail: tail, total: Int64(file.count)))
        } catch {
            return .failure(error)
        }
    }

    private func found(_ builder: ArchiveBuilder) throws -> EndOfCentralDirectory? {
        guard case .found(let location) = try search(builder.make()).get() else { return nil }
        return location
    }

    @Test func usualArchives() throws {
        var plain = ArchiveBuilder(.init("a", "hello"), .init("b", "world"))
        let base = try #require(try found(plain))
        #expect(base.entryCount == 2 && base.prefix == 0 && base.directory == 72..<166 && !base.isZip64)
        plain.comment = Array("PK\u{5}\u{6} is not the end PK\u{5}\u{6}0123456789012345678901234567890".utf8)
        #expect(try found(plain) == base)
        plain.prefix = noise(100)
        let shifted = try #require(try found(plain))
        #expect(shifted.prefix == 100 && shifted.directory == 172..<266)
        plain.countsPrefix = true
        #expect(try found(plain)?.prefix == 0)
        plain = ArchiveBuilder(.init("a", "hello"))
        plain.isZip64 = true
        #expect(try found(plain)?.isZip64 == true)
        plain.prefix = noise(100)
        #expect(try found(plain)?.prefix == 100)
        // Beside the zip64 records the numbers of the plain record may be valid, too.
        plain.entryCount = 1
        plain.directorySize = 47
        plain.directoryOffset = 36
        for prefix in [0, 100] {
            plain.prefix = noise(prefix)
            let location = try #require(try found(plain))
            let start = Int64(prefix + 36)
            #expect(location.isZip64 && location.prefix == Int64(prefix) && location.entryCount == 1)
            #expect(location.directory == start..<start + 47)
        }
        #expect(try found(ArchiveBuilder())?.entryCount == 0)
    }

    /// With any number of last bytes, the search finds the same location, or requests earlier bytes.
    @Test func anyTail() throws {
        var wrong: [String] = []
        for isZip64 in [false, true] {
            var builder = ArchiveBuilder(.init("a", noise(3000)), .init("b", "world"))
            (builder.isZip64, builder.comment) = (isZip64, noise(200))
            let file = try builder.make()
            let whole = try search(file).get()
            for count in 0..<file.count {
                var count = count
                for _ in 0..<4 {
                    guard case .needsMore(let start) = try search(file, tail: count).get() else { break }
                    if start >= file.count - count { wrong.append("\(count): \(start)") }
                    count = file.count - Int(start)
                }
                if try search(file, tail: count).get() != whole { wrong.append("\(count)") }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test func impossibleSizes() throws {
        let file = try ArchiveBuilder(.init("a", "hello")).make()
        let totals: [Int64] = [.max, (1 << 60) + 1, Int64(file.count - 1), 0, -1]
        for total in totals {
            #expect(throws: ArchiveError.self) { try EndOfCentralDirectory.search(tail: file, total: total) }
        }
    }

    @Test func refusals() throws {
        let good = ArchiveBuilder(.init("a", "hello"), .init("b", "world"))
        func changed(_ change: (inout ArchiveBuilder) -> Void) throws -> [UInt8] {
            var builder = good
            change(&builder)
            return try builder.make()
        }
        let file = try good.make()
        let cases: [(String, [UInt8], (ArchiveError) -> Bool)] = [
            ("empty", [], { $0 == .notAnArchive }),
            ("text", Array(repeating: 0x61, count: 100_000), { $0 == .notAnArchive }),
            ("cut at its end", Array(file.dropLast()), { $0 == .notAnArchive }),
            ("cut at its start", Array(file.dropFirst(80)), { if case .truncated = $0 { true } else { false } }),
            ("bytes behind the end", file + [0], { $0 == .notAnArchive }),
            ("another disk", try changed { $0.disk = 1 }, { $0 == .multiDisk }),
            (
                "too many members", try changed { $0.entryCount = 5000 },
                { if case .malformedDirectory = $0 { true } else { false } }
            ),
            (
                "4 GB of directory", try changed { $0.directorySize = .max - 1 },
                { if case .truncated = $0 { true } else { false } }
            ),
            (
                "directory behind the end", try changed { $0.directoryOffset = 10_000 },
                { if case .truncated = $0 { true } else { false } }
            ),
        ]
        for (name, file, isExpected) in cases {
            guard case .failure(let error) = search(file) else {
                Issue.record("\(name) was accepted")
                continue
            }
            #expect(isExpected(error), "\(name): \(error)")
        }
    }
}

@Suite struct CentralDirectoryTests {
    static func directory(_ builder: ArchiveBuilder) throws -> CentralDirectory {
        let file = try builder.make()
        guard case .found(let location) = try EndOfCentralDirectory.search(tail: file, total: Int64(file.count)) else {
            throw ArchiveError.notAnArchive
        }
        let range = Int(location.directory.lowerBound)..<Int(location.directory.upperBound)
        return try CentralDirectory(Array(file[range]), location)
    }

    @Test func entriesAndNames() throws {
        let number = ArchiveBuilder.number
        let path = [1] + number(UInt64(slowCRC32([0x73, 0x81])), 4) + Array("snow☃".utf8)
        let unicodePath = number(0x7075, 2) + number(UInt64(path.count), 2) + path
        let timestamp = number(0x5455, 2) + number(5, 2) + [1] + number(1_700_000_000, 4)
        let builder = ArchiveBuilder(
            .init("plain.txt", "hello"), .init("dir/"), .init("é", "1").with { $0.flags = 1 << 11 },
            .init("", "2").with { $0.name = [0x82, 0x94] },
            .init("", "3").with { ($0.name, $0.extra) = ([0x73, 0x81], unicodePath) },
            .init("time", "4").with { $0.extra = timestamp },
            .init("", "5").with { ($0.name, $0.flags) = ([0xFF], 1 << 11) },
            .init("../up", "6"), .init("plain.txt", "again"), .init("ü", "7").with { $0.host = 3 },
            .init("", "8").with { ($0.name, $0.host) = ([0x81], 3) })
        let directory = try Self.directory(builder)
        let entries = Array(directory.entries)
        #expect(
            entries.map(\.name)
                == ["plain.txt", "dir/", "é", "éö", "snow☃", "time", "\u{A0}", "../up", "plain.txt", "ü", "ü"])
        #expect(entries.map(\.isDirectory) == [false, true] + Array(repeating: false, count: 9))
        #expect(entries[5].modified == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(written(entries[0].modified) == "2024-01-01T12:00:00Z")
        // By its text, by its bytes, and the last of two with the same name.
        #expect(directory.member(named: Array("éö".utf8))?.entry.checksum == slowCRC32(Array("2".utf8)))
        #expect(directory.member(named: [0x82, 0x94])?.entry.checksum == slowCRC32(Array("2".utf8)))
        #expect(directory.member(named: Array("plain.txt".utf8))?.entry.checksum == slowCRC32(Array("again".utf8)))
        #expect(directory.member(named: Array("plain".utf8)) == nil)
        // The next record in the file.
        #expect(directory.member(named: Array("../up".utf8))?.end == entries[8].headerOffset)
        #expect(directory.member(named: Array("plain.txt".utf8))?.end == entries[9].headerOffset)
        #expect(directory.member(named: [0x81])?.end == directory.location.directory.lowerBound)
        #expect(directory.hasMembers(below: "../") && directory.hasMembers(below: ""))
        #expect(!directory.hasMembers(below: "x/"))
    }

    @Test func zip64Fields() throws {
        func member(_ extra: [UInt8]) -> ArchiveBuilder.Member {
            .init("a", "hello").with { ($0.size, $0.compressedSize, $0.extra) = (.max, .max, extra) }
        }
        let number = ArchiveBuilder.number
        let field = number(1, 2) + number(16, 2) + number(1 << 33, 8) + number(1 << 32, 8)
        let entry = try #require(Array(try Self.directory(ArchiveBuilder(member(field))).entries).first)
        #expect(entry.size == 1 << 33 && entry.compressedSize == 1 << 32)
        let short = number(1, 2) + number(8, 2) + number(5, 8)
        let large = number(1, 2) + number(16, 2) + number(.max, 8) + number(5, 8)
        for broken in [short, large] {
            #expect(throws: ArchiveError.self) { try Self.directory(ArchiveBuilder(member(broken))) }
        }
    }

    @Test func refusals() throws {
        var builder = ArchiveBuilder(.init("a", "hello"), .init("b", "world"))
        builder.entryCount = 1
        #expect(throws: ArchiveError.self) { try Self.directory(builder) }
        builder = ArchiveBuilder(.init("a", "hello").with { $0.offset = 100_000 })
        #expect(throws: ArchiveError.self) { try Self.directory(builder) }
        let location = EndOfCentralDirectory(prefix: 0, directory: 0..<46, entryCount: 1, isZip64: false)
        #expect(throws: ArchiveError.self) { try CentralDirectory(Array(repeating: 0, count: 46), location) }
    }
}

@Suite struct LocalHeaderTests {
    private let builder = ArchiveBuilder(.init("name", "hello", method: 8))

    @Test func whatDiffersIsRefused() throws {
        let entry = try #require(Array(try CentralDirectoryTests.directory(builder).entries).first)
        let file = try builder.make()
        for count in 0..<34 { #expect(try LocalHeader(Array(file.prefix(count)), of: entry) == nil) }
        let header = try #require(try LocalHeader(file, of: entry))
        try header.check(against: entry)
        #expect(header.size == 34)
        #expect(throws: ArchiveError.localHeaderDiffers(member: "name", field: "signature")) {
            try LocalHeader([0] + file, of: entry)
        }
        let changes: [(Int, String)] = [
            (6, "encryption"), (8, "compression method"), (14, "CRC-32"), (18, "compressed size"), (22, "size"),
            (30, "name"),
        ]
        for (offset, field) in changes {
            var changed = file
            changed[offset] ^= 1
            let header = try #require(try LocalHeader(changed, of: entry))
            #expect(throws: ArchiveError.localHeaderDiffers(member: "name", field: field)) {
                try header.check(against: entry)
            }
        }
        // Sizes after the data, and in a zip64 field.
        var described = file
        described[6] |= 8
        for offset in 14..<26 { described[offset] = 0 }
        try #require(try LocalHeader(described, of: entry)).check(against: entry)
        var zip64 = file
        for offset in 18..<26 { zip64[offset] = 0xFF }
        try #require(try LocalHeader(zip64, of: entry)).check(against: entry)
    }
}

@Suite struct ChecksumAndTimeTests {
    @Test func checksums() {
        #expect(CRC32(Array("123456789".utf8)).value == 0xCBF4_3926)
        #expect(CRC32([UInt8]()).value == 0)
        let bytes = noise(1000)
        var wrong: [Int] = []
        for cut in 0...bytes.count {
            var checksum = CRC32(bytes[..<cut])
            checksum.update(bytes[cut...])
            if checksum.value != slowCRC32(bytes) { wrong.append(cut) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func dates() {
        #expect(DOSTime.date(date: 0, time: 0) == nil)
        #expect(written(DOSTime.date(date: 0x21, time: 0)) == "1980-01-01T00:00:00Z")
        #expect(DOSTime.date(date: 0x21, time: 0xFFFF) == nil)
    }
}

private func written(_ date: Date?) -> String? {
    date.map { CivilTime(secondsSince1970: $0.timeIntervalSince1970).timestamp }
}
