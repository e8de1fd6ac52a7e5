import LoadingKitPrimitives

/// A line of `ls -l` or of a similar format: mode, links, owner, group, size, date, name.
///
///     -rw-r--r--   1 owner    group        531 Jan 29 03:26 a file
///     drwxr-xr-x+  2 owner                 512 2026-01-31 23:05 no group
///     lrwxrwxrwx   1 1000     1000           7 Jan 25  2024 link -> target
///     crw-rw----   1 root     tty       4,  64 Jan  1 12:00 ttyS0
///     d [R----F--] supervisor              512 Jan 16 18:53    NetWare
///
/// Owners may contain spaces or be missing. Therefore the parser searches for a date with a size before it.
enum UnixLine {
    static func read(_ line: ListingLine, now: Int64) -> FTPEntry? {
        guard let mode = mode(line) else { return nil }
        // At least the mode and a size precede the date.
        for index in (mode.end + 1)..<max(mode.end + 1, line.words.count - 1) {
            guard let size = size(line.word(index - 1)), let date = ListingDate.read(line, at: index, now: now) else {
                continue
            }
            let afterDate = index + date.wordCount - 1
            let name =
                mode.isNetWare
                ? line.rest(from: afterDate + 1)
                : line.rest(afterWord: afterDate)
            guard !name.isEmpty else { return nil }
            return entry(mode, size, date.time, name)
        }
        return nil
    }

    private static func entry(
        _ mode: Mode, _ size: Size, _ time: FTPTimestamp, _ name: ArraySlice<UInt8>
    ) -> FTPEntry {
        var entry = FTPEntry(name: Array(name), kind: mode.kind, modification: time, permissions: mode.permissions)
        switch mode.kind {
        case .file:
            if case .bytes(let count) = size { entry.size = count }
        case .directory:
            // `ls -p` and `ls -F` append a slash.
            if entry.name.count > 1, entry.name.last == UInt8(ascii: "/") { entry.name.removeLast() }
        case .link:
            let arrow = Array(" -> ".utf8)
            if let position = firstIndex(of: arrow, in: entry.name), position > 0 {
                entry.target = Array(entry.name[(position + arrow.count)...])
                entry.name.removeSubrange(position...)
            }
        case .other: break
        }
        return entry
    }

    private static func firstIndex(of pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        return (0...(bytes.count - pattern.count)).first { bytes[$0...].starts(with: pattern) }
    }

    // MARK: The mode

    private struct Mode {
        let kind: FTPEntry.Kind
        let permissions: String
        let isNetWare: Bool
        /// The index of the word after the mode.
        let end: Int
    }

    private static func mode(_ line: ListingLine) -> Mode? {
        // `ls -is` writes the inode number and the number of blocks first.
        let start = line.words.indices.prefix(3).first { line.word($0).decimal == nil } ?? 0
        let word = line.word(start)
        guard let first = word.first, let kind = kind(first) else { return nil }
        if word.count == 1, isNetWare(line.word(start + 1)) {
            return Mode(kind: kind, permissions: line.text(start + 1), isNetWare: true, end: start + 2)
        }
        if isNetWare(word.dropFirst()) {
            let permissions = String(decoding: word.dropFirst(), as: UTF8.self)
            return Mode(kind: kind, permissions: permissions, isNetWare: true, end: start + 1)
        }
        // Nine letters, and an optional mark for an access control list or a security context.
        guard word.count >= 10, word.count <= 12, word.dropFirst().prefix(9).allSatisfy(isPermission) else {
            return nil
        }
        let permissions = String(decoding: word.dropFirst(), as: UTF8.self)
        return Mode(kind: kind, permissions: permissions, isNetWare: false, end: start + 1)
    }

    private static func kind(_ byte: UInt8) -> FTPEntry.Kind? {
        switch byte {
        case UInt8(ascii: "-"): .file
        case UInt8(ascii: "d"): .directory
        case UInt8(ascii: "l"): .link
        // Migrated and contiguous files, which can be read; then devices, pipes, sockets, doors, event ports,
        // whiteouts.
        case UInt8(ascii: "m"), UInt8(ascii: "M"), UInt8(ascii: "C"): .file
        case UInt8(ascii: "b"), UInt8(ascii: "c"), UInt8(ascii: "p"), UInt8(ascii: "s"), UInt8(ascii: "D"),
            UInt8(ascii: "P"), UInt8(ascii: "w"), UInt8(ascii: "n"), UInt8(ascii: "?"):
            .other
        default: nil
        }
    }

    private static func isPermission(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "r"), UInt8(ascii: "w"), UInt8(ascii: "x"), UInt8(ascii: "-"), UInt8(ascii: "s"),
            UInt8(ascii: "S"), UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "l"), UInt8(ascii: "L"),
            UInt8(ascii: "a"), UInt8(ascii: "A"), UInt8(ascii: "?"):
            true
        default: false
        }
    }

    private static func isNetWare(_ word: ArraySlice<UInt8>) -> Bool {
        word.count > 2 && word.first == UInt8(ascii: "[") && word.last == UInt8(ascii: "]")
    }

    // MARK: The size

    private enum Size {
        case bytes(UInt64)
        /// The number of a device, or a rounded number.
        case other
    }

    /// The size before a date: `531`; `64` or `4,64` for a device; `33.5k` of `ls -h`.
    private static func size(_ word: ArraySlice<UInt8>) -> Size? {
        if let bytes = word.decimal { return .bytes(bytes) }
        guard let first = word.first, ASCII.isDigit(first) else { return nil }
        let unit = word.last.map { Character(Unicode.Scalar($0)) } ?? " "
        let isNumber = word.dropLast().allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") || $0 == ASCII.comma }
        guard isNumber, "kKMGTPEB0123456789".contains(unit) else { return nil }
        return .other
    }
}
