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
            var decoder = try MemberDecoder(member.entry, maximumRatio: 100)
            decoder.receive(Data(file[Int(range.lowerBound)..<Int(range.upperBound)]))
            var count = 0
            while let piece = try decoder.next() { count += piece.count }
            try require(count <= member.entry.size, "\(count) bytes of \(member.entry.size)")
            try decoder.finish()
        } catch is ArchiveError {}
    }
}
