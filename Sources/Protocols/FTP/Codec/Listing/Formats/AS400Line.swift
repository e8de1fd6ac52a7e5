import LoadingKitPrimitives

/// AS/400 (IBM i, "FTP server subcommand LIST"): owner, size, date, time, type, name. Members of a file have no size and date.
///
///     QSYS            77824 02/23/00 15:09:55 *DIR       QDOC/
///     QPGMR                                   *MEM       QCLSRC.SOURCE
enum AS400Line {
    static func read(_ line: ListingLine) -> FTPEntry? {
        guard let star = line.words.indices.prefix(6).first(where: { isType(line.word($0)) }),
            star == 1 || star == 2 || star == 4, line.words.count > star + 1
        else { return nil }
        var entry = FTPEntry(name: Array(line.rest(from: star + 1)), kind: .file)
        let type = line.text(star)
        let hasSlash = entry.name.last == UInt8(ascii: "/")
        if hasSlash || ["*DIR", "*DDIR", "*LIB", "*FLR"].contains(type) { entry.kind = .directory }
        if hasSlash { entry.name.removeLast() }
        if star == 4 {
            guard let size = line.word(1).decimal, let time = time(line.word(2), line.word(3)) else { return nil }
            entry.modification = time
            if entry.kind == .file { entry.size = size }
        }
        return entry.name.isEmpty ? nil : entry
    }

    /// `*DIR`, `*STMF`
    private static func isType(_ word: ArraySlice<UInt8>) -> Bool {
        word.count > 3 && word.first == UInt8(ascii: "*")
            && word.dropFirst().allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 || ASCII.isDigit($0) }
    }

    /// The job decides how dates are written: `02/23/00` and `23/02/00`, `00/02/23`, `23.02.00`.
    private static func time(_ day: ArraySlice<UInt8>, _ clock: ArraySlice<UInt8>) -> FTPTimestamp? {
        guard let clock = Clock(clock), let separator = day.first(where: { !ASCII.isDigit($0) }),
            "/.-".utf8.contains(separator)
        else { return nil }
        let parts = day.split(separator: separator, omittingEmptySubsequences: false).compactMap(\.datePart)
        guard parts.count == 3 else { return nil }
        let (first, second, third) = (parts[0], parts[1], parts[2])
        let monthFirst = (year: third, month: first, day: second)
        let dayFirst = (year: third, month: second, day: first)
        let yearFirst = (year: first, month: second, day: third)
        let candidates =
            separator == UInt8(ascii: ".") ? [dayFirst, yearFirst] : [monthFirst, dayFirst, yearFirst]
        for date in candidates {
            let year = date.year > 99 ? date.year : TwoDigitYear.full(date.year)
            if let time = clock.on(year, date.month, date.day) { return time }
        }
        return nil
    }
}
