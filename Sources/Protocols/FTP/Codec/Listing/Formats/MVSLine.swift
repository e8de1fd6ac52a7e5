import LoadingKitPrimitives

/// z/OS's MVS data sets, and the members of a partitioned one, after a heading each (z/OS Communications Server: IP User's
/// Guide, "DIR"). Sizes are in tracks and records, which say nothing of bytes.
///
///     Volume Unit    Referred Ext Used Recfm Lrecl BlkSz Dsorg Dsname
///     WYOSPT 3420   2023/05/21  1  200  FB      80  8053  PS  A.FILE
///     Migrated                                                 AN.OLD.FILE
///
///      Name     VV.MM   Created       Changed      Size  Init   Mod   Id
///     MEMBER    01.01 2022/06/22 2023/06/22 16:32   128   128     0 USER
enum MVSLine {
    static func isHeadingOfDatasets(_ line: ListingLine) -> Bool {
        line.word(0).isEqual(to: "Volume") && line.word(1).isEqual(to: "Unit")
    }

    static func isHeadingOfMembers(_ line: ListingLine) -> Bool {
        line.word(0).isEqual(to: "Name") && (line.word(1).isEqual(to: "VV.MM") || line.word(1).isEqual(to: "Size"))
    }

    static func readDataset(_ line: ListingLine) -> FTPEntry? {
        guard line.words.count >= 2 else { return nil }
        let name = Array(line.word(line.words.count - 1))
        switch line.text(0) {
        case "Migrated", "Archived": return FTPEntry(name: name, kind: .file)
        case "Pseudo": return FTPEntry(name: name, kind: .directory)
        default: break
        }
        let organization = line.text(line.words.count - 2)
        switch organization {
        case "PO", "PO-E", "PATH":
            return FTPEntry(name: name, kind: .directory, modification: date(line.word(2)))
        case "PS", "PS-E", "PS-L", "DA", "VS", "VSAM", "PSU", "POU":
            return FTPEntry(name: name, kind: .file, modification: date(line.word(2)))
        default: return nil
        }
    }

    /// Members of program libraries have other columns; some have a name alone.
    static func readMember(_ line: ListingLine) -> FTPEntry? {
        guard !line.word(0).isEmpty, line.word(0).count <= 8 else { return nil }
        var entry = FTPEntry(name: Array(line.word(0)), kind: .file)
        if let day = date(line.word(3)) {
            entry.modification = Clock(line.word(4)).flatMap { $0.on(day.year, day.month, day.day) } ?? day
        }
        return entry
    }

    /// `2023/05/21`
    private static func date(_ word: ArraySlice<UInt8>) -> FTPTimestamp? {
        let parts = word.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).compactMap(\.datePart)
        guard parts.count == 3 else { return nil }
        return FTPTimestamp(year: parts[0], month: parts[1], day: parts[2], precision: .day, isUTC: false)
    }
}
