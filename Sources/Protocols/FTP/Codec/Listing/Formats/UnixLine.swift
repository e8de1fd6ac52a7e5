import LoadingKitPrimitives

/// A line of `ls -l` or of a similar format: mode, links, owner, group, size, date, name.
///
///     -rw-r--r--   1 owner    group        531 Jan 29 03:26 a file
///     drwxr-xr-x+  2 owner                 512 2026-01-31 23:05 no group
///     lrwxrwxrwx   1 1000     1000           7 Jan 25  2024 link -> target
///     crw-rw----   1 root     tty       4,  64 Jan  1 12:00 ttyS0
///
/// Owners may contain spaces or be missing. Therefore the parser searches for a date with a size before it.
enum UnixLine {
    static func read(_ line: ListingLine, now: Int64) -> FTPEntry? {
        // Nine letters, and an optional mark for an access control list or a security context.
        let mode = line.word(0)
        guard let kind = mode.first.flatMap(kind), 10...12 ~= mode.count,
            mode.dropFirst().prefix(9).allSatisfy("rwx-sStTlLaA?".utf8.contains)
        else { return nil }
        let permissions = String(decoding: mode.dropFirst(), as: UTF8.self)
        // At least the mode and a size precede the date.
        for index in line.words.indices.dropFirst(2).dropLast() {
            guard let size = size(line.word(index - 1)), let date = ListingDate(line, at: index, now: now) else {
                continue
            }
            let name = line.rest(afterWord: index + date.wordCount - 1)
            return name.isEmpty ? nil : entry(kind, permissions, size, date.time, name)
        }
        return nil
    }

    private static func entry(
        _ kind: FTPEntry.Kind, _ permissions: String, _ size: Size, _ time: FTPTimestamp, _ name: ArraySlice<UInt8>
    ) -> FTPEntry {
        var entry = FTPEntry(name: Array(name), kind: kind, modification: time, permissions: permissions)
        switch kind {
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

    private static func kind(_ byte: UInt8) -> FTPEntry.Kind? {
        switch byte {
        case UInt8(ascii: "-"): .file
        case UInt8(ascii: "d"): .directory
        case UInt8(ascii: "l"): .link
        // Migrated and contiguous files, which can be read; then devices, pipes, sockets, doors, event ports,
        // whiteouts.
        case UInt8(ascii: "m"), UInt8(ascii: "M"), UInt8(ascii: "C"): .file
        case _: "bcpsDPwn?".utf8.contains(byte) ? .other : nil
        }
    }

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
