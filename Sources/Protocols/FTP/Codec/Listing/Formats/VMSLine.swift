import LoadingKitPrimitives

/// VMS: name and version, blocks, date, owner, protection. A long name has the rest on the next line.
///
///     README.TXT;2          2/3    5-JUN-1997 15:43:10  [ANONYMOUS,GUEST]  (RWED,RWED,RE,RE)
///     A_LONG_NAME.TXT;1
///                          22/24  24-DEC-2023 09:00  [ANONYMOUS]  (RWED,RWED,RE,)
///     SECRET.DIR;1  %RMS-E-PRV, insufficient privilege or file protection violation
enum VMSLine {
    static func read(_ line: ListingLine) -> FTPEntry? {
        guard line.words.count > 1, let name = name(line.word(0)) else { return nil }
        // What went wrong is told in the place of the rest.
        if line.word(1).first == UInt8(ascii: "%") { return entry(name) }
        return read(line, from: 1, of: name)
    }

    /// The name on a line of its own.
    static func loneName(_ line: ListingLine) -> [UInt8]? {
        line.words.count == 1 ? name(line.word(0)) : nil
    }

    /// The line after a name on a line of its own.
    static func readRest(_ line: ListingLine, of name: [UInt8]) -> FTPEntry? {
        guard let first = line.bytes.first, ASCII.isSpace(first) else { return nil }
        return read(line, from: 0, of: name)
    }

    private static func read(_ line: ListingLine, from start: Int, of name: [UInt8]) -> FTPEntry? {
        // Blocks, which some servers write after the date or not at all.
        for index in start..<min(start + 2, line.words.count) {
            guard let (year, month, day) = date(line.word(index)) else { continue }
            var entry = entry(name)
            entry.modification =
                Clock(line.word(index + 1)).flatMap { $0.on(year, month, day) }
                ?? FTPTimestamp(year: year, month: month, day: day, precision: .day, isUTC: false)
            if let word = line.words.last.map({ line.bytes[$0] }), word.first == UInt8(ascii: "("),
                word.last == UInt8(ascii: ")")
            {
                entry.permissions = String(decoding: word, as: UTF8.self)
            }
            return entry
        }
        return nil
    }

    /// The directory `NAME` is the file `NAME.DIR;1`, and is entered by `NAME`.
    private static func entry(_ name: [UInt8]) -> FTPEntry {
        let suffix = Array(".DIR;1".utf8)
        let isDirectory = name.count > suffix.count && name.suffix(suffix.count).elementsEqual(suffix)
        return isDirectory
            ? FTPEntry(name: Array(name.dropLast(suffix.count)), kind: .directory) : FTPEntry(name: name, kind: .file)
    }

    /// `NAME.TYPE;version`, with or without a directory `[…]` before it.
    private static func name(_ word: ArraySlice<UInt8>) -> [UInt8]? {
        guard let semicolon = word.lastIndex(of: ASCII.semicolon), word[(semicolon + 1)...].decimal != nil,
            word[..<semicolon].contains(UInt8(ascii: "."))
        else { return nil }
        let bracket = word[..<semicolon].lastIndex(of: UInt8(ascii: "]"))
        let name = word[(bracket.map { $0 + 1 } ?? word.startIndex)...]
        return name.first == ASCII.semicolon ? nil : Array(name)
    }

    /// `5-JUN-1997`
    private static func date(_ word: ArraySlice<UInt8>) -> (year: Int, month: Int, day: Int)? {
        let parts = word.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3, let day = parts[0].datePart, let month = MonthNames.number(parts[1]),
            parts[2].count == 4, let year = parts[2].datePart,
            FTPTimestamp(year: year, month: month, day: day, precision: .day, isUTC: false) != nil
        else { return nil }
        return (year, month, day)
    }
}
