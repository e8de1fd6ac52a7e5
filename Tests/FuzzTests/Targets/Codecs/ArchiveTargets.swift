import Foundation

@testable import LoadingKitArchives

enum ArchiveTargets {
    static let all = [FuzzTarget("zip", zip)]

    /// A whole archive: its directory, the listing, and each member.
    @Sendable private static func zip(_ input: inout FuzzInput) throws {
        let file = input.rest()
        do {
            guard case .found(let location) = try EndOfCentralDirectory.search(tail: file, total: Int64(file.count))
            else {
                return
            }
            let bounds = location.directory
            try require(bounds.lowerBound >= 0 && bounds.upperBound <= file.count, "the directory is at \(bounds)")
            let directory = try CentralDirectory(Array(file[Int(bounds.lowerBound)..<Int(bounds.upperBound)]), location)
            try list(directory)
            for entry in directory.entries.prefix(50) { try read(entry, directory, file) }
        } catch is ArchiveError {}
    }

    private static func list(_ directory: CentralDirectory) throws {
        var writer = ListingWriter(directory, prefix: "", archive: URL(fileURLWithPath: "/a"))
        var listing = Data()
        while let piece = writer.next() { listing += piece }
        let members = try JSONDecoder().decode(ArchiveListing.self, from: listing).members
        try requireEqual(members.count, directory.count, "members of the listing, and of the directory")
    }

    private static func read(_ entry: DirectoryEntry, _ directory: CentralDirectory, _ file: [UInt8]) throws {
        guard let member = directory.member(named: Array(entry.rawName)) else { return }
        do {
            let plan = try MemberPlan(member, part: nil)
            try require(
                plan.first.lowerBound >= 0 && plan.first.upperBound <= file.count, "\(plan.first) is beyond the file")
            guard let header = try LocalHeader(Array(file[Int(plan.first.lowerBound)...]), of: member.entry) else {
                return
            }
            try header.check(against: member.entry)
            let range = try plan.data(behind: header)
            try require(range.lowerBound >= 0 && range.upperBound <= file.count, "\(range) is beyond the file")
            let data = Data(file[Int(range.lowerBound)..<Int(range.upperBound)])
            let whole = outcome(member.entry, data, by: data.count)
            try require(whole.count <= member.entry.size, "\(whole.count) bytes of \(member.entry.size)")
            let divided = outcome(member.entry, data, by: 1 + data.count / 7)
            try require(whole == divided, "\(whole) and \(divided)")
        } catch is ArchiveError {}
    }

    /// The content of a member whose data comes in pieces of a size, or its error.
    private enum Outcome: Equatable {
        case decoded(Data)
        case failed(String)

        var count: Int { if case .decoded(let content) = self { content.count } else { 0 } }
    }

    private static func outcome(_ entry: DirectoryEntry, _ data: Data, by size: Int) -> Outcome {
        do {
            var decoder = try MemberDecoder(entry, maximumRatio: 4, minimumSize: 64 << 10)
            var (rest, content) = (data, Data())
            while !rest.isEmpty {
                decoder.receive(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let piece = try decoder.next() { content += piece }
            }
            try decoder.finish()
            return .decoded(content)
        } catch {
            return .failed("\(error)")
        }
    }
}
