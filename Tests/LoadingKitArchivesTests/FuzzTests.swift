import Foundation
import TestSupport
import Testing

@testable import LoadingKitArchives

/// Archives with random changes: accepted, or refused with an `ArchiveError`. Whatever is accepted keeps its bounds.
@Suite struct FuzzTests {
    private func seeds() throws -> [[UInt8]] {
        var plain = ArchiveBuilder(
            .init("a.txt", noise(200)), .init("b", "text text text text text", method: 8), .init("dir/"),
            .init("z", "64").with { member in
                let number = ArchiveBuilder.number
                member.extra = number(1, 2) + number(16, 2) + number(2, 8) + number(2, 8)
                (member.size, member.compressedSize) = (.max, .max)
            })
        plain.comment = Array("comment".utf8)
        var zip64 = plain
        (zip64.isZip64, zip64.prefix) = (true, noise(30))
        return [try plain.make(), try zip64.make()]
    }

    private func mutate(_ file: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var file = file
        for _ in 0..<Int.random(in: 1...4, using: &random) where !file.isEmpty {
            let place = Int.random(in: 0..<file.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: file[place] = UInt8.random(in: .min ... .max, using: &random)
            case 1: file[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: for index in place..<min(place + 4, file.count) { file[index] = 0xFF }
            case 3: for index in place..<min(place + 4, file.count) { file[index] = 0 }
            case 4: file.removeSubrange(place..<min(file.count, place + Int.random(in: 1...40, using: &random)))
            default: file.insert(contentsOf: file[place..<min(place + 20, file.count)], at: place)
            }
        }
        return file
    }

    /// Reads the whole archive, as a load does.
    private func read(_ file: [UInt8]) throws(ArchiveError) -> Int {
        guard case .found(let location) = try EndOfCentralDirectory.search(tail: file, total: Int64(file.count)) else {
            return 0
        }
        let range = Int(location.directory.lowerBound)..<Int(location.directory.upperBound)
        let directory = try CentralDirectory(Array(file[range]), location)
        var writer = ListingWriter(directory, prefix: "", archive: URL(fileURLWithPath: "/a"))
        var listing = Data()
        while let piece = writer.next() { listing += piece }
        guard let parsed = try? JSONDecoder().decode(ArchiveListing.self, from: listing),
            parsed.members.count == directory.count
        else { throw .malformedDirectory("the listing is not JSON") }
        var read = 0
        for entry in directory.entries {
            do throws(ArchiveError) {
                read += try content(of: entry, directory, file)
            } catch ArchiveError.malformedDirectory(let text) where text.hasPrefix("BUG") {
                throw .malformedDirectory(text)
            } catch {}
        }
        return read
    }

    private func content(
        of entry: DirectoryEntry, _ directory: CentralDirectory, _ file: [UInt8]
    ) throws(ArchiveError) -> Int {
        guard let member = directory.member(named: Array(entry.rawName)) else { return 0 }
        let plan = try MemberPlan(member, part: nil)
        guard plan.first.lowerBound >= 0, plan.first.upperBound <= Int64(file.count) else {
            throw .malformedDirectory("BUG: \(plan.first) is beyond the file")
        }
        let rest = Array(file[Int(plan.first.lowerBound)...])
        guard let header = try LocalHeader(rest, of: member.entry) else { return 0 }
        try header.check(against: member.entry)
        let data = try plan.data(behind: header)
        guard data.upperBound <= Int64(file.count) else { throw .malformedDirectory("BUG: \(data) is beyond the file") }
        var decoder = try MemberDecoder(member.entry, maximumRatio: .max)
        decoder.receive(Data(file[Int(data.lowerBound)..<Int(data.upperBound)]))
        var count = 0
        while let piece = try decoder.next() { count += piece.count }
        guard Int64(count) <= member.entry.size else { throw .malformedDirectory("BUG: more than the stated size") }
        try decoder.finish()
        return count
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func mutations(part: UInt64) throws {
        var random = SeededGenerator(seed: part)
        var (accepted, refused) = (0, 0)
        var bugs: [String] = []
        for seed in try seeds() {
            #expect(try read(seed) == 226)
            for _ in 0..<3000 {
                do throws(ArchiveError) {
                    _ = try read(mutate(seed, &random))
                    accepted += 1
                } catch {
                    refused += 1
                    if case .malformedDirectory(let text) = error, text.hasPrefix("BUG") || text.contains("JSON") {
                        bugs.append(text)
                    }
                }
            }
        }
        #expect(bugs.isEmpty)
        #expect(accepted > 100 && refused > 100)
    }

    @Test func urls() throws {
        var random = SeededGenerator(seed: 7)
        let alphabet = Array("zip:htps//a!?#%20FG.é")
        var wrong: [String] = []
        for _ in 0..<5000 {
            let count = Int.random(in: 0..<30, using: &random)
            let text = String((0..<count).compactMap { _ in alphabet.randomElement(using: &random) })
            guard let url = URL(string: "zip:file:/a\(text)!/\(text)"), let archive = try? ArchiveURL(url) else {
                continue
            }
            guard let again = archive.url else { continue }
            if try ArchiveURL(again).memberBytes != archive.memberBytes { wrong.append(text) }
        }
        #expect(wrong.isEmpty)
    }
}
