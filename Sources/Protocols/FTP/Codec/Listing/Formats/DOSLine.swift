import LoadingKitPrimitives

/// A line of MS-DOS's `dir`, as IIS and other servers for Windows write it.
///
///     04-27-00  09:09PM       <DIR>          licensed
///     04-27-2024  21:09                  589 readme.htm
///     2024-04-27  09:09 PM    <JUNCTION>     data [D:\data]
enum DOSLine {
    static func read(_ line: ListingLine) -> FTPEntry? {
        guard line.words.count >= 4, let (year, month, day) = date(line.word(0)) else { return nil }
        var clockWord = Array(line.word(1))
        var next = 2
        // Some servers write a space before AM or PM.
        switch line.text(2).lowercased() {
        case "am", "pm", "a.m.", "p.m.":
            clockWord += line.word(2).prefix(1)
            next = 3
        default: break
        }
        guard let clock = Clock(clockWord[...]), let time = clock.on(year, month, day) else { return nil }
        let kind = line.text(next)
        guard kind.hasPrefix("<"), kind.hasSuffix(">") else { return file(line, next, time) }
        var entry = FTPEntry(name: name(line, afterKind: next), kind: .other, modification: time)
        switch kind {
        case "<DIR>": entry.kind = .directory
        case "<JUNCTION>", "<SYMLINK>", "<SYMLINKD>":
            entry.kind = .link
            // `name [target]`
            if entry.name.last == UInt8(ascii: "]"), let bracket = entry.name.lastIndex(of: UInt8(ascii: "[")),
                bracket > 1, entry.name[bracket - 1] == ASCII.space
            {
                entry.target = Array(entry.name[(bracket + 1)...].dropLast())
                entry.name.removeSubrange((bracket - 1)...)
            }
        default: break
        }
        return entry.name.isEmpty ? nil : entry
    }

    /// A size, one space, and the name.
    private static func file(_ line: ListingLine, _ index: Int, _ time: FTPTimestamp) -> FTPEntry? {
        // Some servers separate thousands by a comma or a full stop.
        let digits = line.word(index).filter { $0 != ASCII.comma && $0 != UInt8(ascii: ".") }
        let name = line.rest(afterWord: index)
        guard let size = digits.decimal, !name.isEmpty else { return nil }
        return FTPEntry(name: Array(name), kind: .file, size: size, modification: time)
    }

    /// IIS pads the kind to 15 characters, so that names begin in one column; other servers write fewer spaces.
    private static func name(_ line: ListingLine, afterKind index: Int) -> [UInt8] {
        guard line.words.indices.contains(index + 1) else { return [] }
        let column = line.words[index].lowerBound + 15
        return Array(line.bytes[min(column, line.words[index + 1].lowerBound)...])
    }

    /// Parses month, day and year. The day is first if the first number exceeds 12, or if full stops separate the
    /// numbers. The year is first if the first number has four digits.
    private static func date(_ word: ArraySlice<UInt8>) -> (year: Int, month: Int, day: Int)? {
        guard let separator = word.first(where: { !ASCII.isDigit($0) }), "-/.".utf8.contains(separator) else {
            return nil
        }
        let parts = word.split(separator: separator, omittingEmptySubsequences: false)
        let numbers = parts.compactMap(\.datePart)
        guard parts.count == 3, numbers.count == 3 else { return nil }
        if parts[0].count == 4 { return (numbers[0], numbers[1], numbers[2]) }
        guard parts[2].count == 2 || parts[2].count == 4 else { return nil }
        let year = parts[2].count == 4 ? numbers[2] : fullYear(numbers[2])
        return separator == UInt8(ascii: ".") || numbers[0] > 12
            ? (year, numbers[1], numbers[0])
            : (year, numbers[0], numbers[1])
    }

    /// The year of a two-digit number, with the rule of POSIX's `%y`.
    private static func fullYear(_ year: Int) -> Int { year < 69 ? 2000 + year : 1900 + year }
}
