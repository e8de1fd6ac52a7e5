import Foundation

/// The framing of records.
public enum JSONRecordFraming: Sendable, Hashable {
    /// One record on each line (NDJSON, JSON Lines): LF ends it, and a CR before the LF is white space. Empty lines are
    /// skipped, and the last record needs no end.
    case lines
    /// JSON text sequences (RFC 7464): RS starts a record, and LF ends it. A record without LF is truncated, unless it
    /// is an object, an array or a string, whose own syntax shows the end. Text between that LF and the next RS is
    /// a truncated record.
    case sequence

    /// LF or RS.
    var separator: UInt8 { self == .lines ? 0x0a : 0x1e }
}

/// Divides bytes into records, regardless of how they are divided into pieces. Pure.
struct RecordSplitter: Splitter {
    struct Record: Sendable, Hashable {
        let number: Int
        let bytes: Data
        var isTruncated = false
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private let framing: JSONRecordFraming
    private let limit: Int
    /// The received part of an incomplete record.
    private var record: [UInt8] = []
    private var count = 0
    private var isFirst = true
    /// For a text sequence: whether an RS has been found.
    private var hasBegun = false
    /// For a text sequence: whether the record has ended, and no RS was found behind it.
    private var hasEnded = false
    private var scanner = TextScanner()

    private struct Cut {
        let end: Int
        let next: Int
        /// Whether a record begins behind it.
        let isSeparator: Bool
    }

    init(_ framing: JSONRecordFraming, limit: Int) {
        self.framing = framing
        self.limit = limit
    }

    mutating func receive(_ bytes: Data, into records: inout [Record]) throws {
        try bytes.withUnsafeBytes { try split($0, &records) }
    }

    mutating func finish() throws -> Record? { try takeRecord() }

    private mutating func split(_ bytes: UnsafeRawBufferPointer, _ records: inout [Record]) throws {
        var start = 0
        skipSpace(bytes, &start)
        while let cut = nextCut(bytes, from: start) {
            let run = UnsafeRawBufferPointer(rebasing: bytes[start..<cut.end])
            try checkSize(run)
            if record.isEmpty {
                if let next = try take(run) { records.append(next) }
            } else {
                record.append(contentsOf: run)
                if let next = try takeRecord() { records.append(next) }
            }
            if cut.isSeparator { hasBegun = true }
            hasEnded = !cut.isSeparator
            start = cut.next
            skipSpace(bytes, &start)
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        try checkSize(rest)
        record.append(contentsOf: rest)
    }

    private mutating func nextCut(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Cut? {
        switch framing {
        case .lines:
            guard let base = bytes.baseAddress,
                let found = memchr(base + start, Int32(framing.separator), bytes.count - start)
            else { return nil }
            let end = base.distance(to: UnsafeRawPointer(found))
            return Cut(end: end, next: end + 1, isSeparator: true)
        case .sequence:
            for index in start..<bytes.count {
                if bytes[index] == framing.separator {
                    scanner = TextScanner()
                    return Cut(end: index, next: index + 1, isSeparator: true)
                }
                // The LF belongs to the record: it shows that nothing is missing.
                if hasBegun, !hasEnded, scanner.ends(with: bytes[index]) {
                    return Cut(end: index + 1, next: index + 1, isSeparator: false)
                }
            }
            return nil
        }
    }

    /// Skips white space between a record's end and the next RS.
    private func skipSpace(_ bytes: UnsafeRawBufferPointer, _ start: inout Int) {
        guard hasEnded, record.isEmpty else { return }
        while start < bytes.count, Self.isSpace(bytes[start]) { start += 1 }
    }

    /// The usual skipped bytes at both ends do not count.
    private func checkSize(_ run: UnsafeRawBufferPointer) throws {
        let (size, overflows) = limit.addingReportingOverflow(isFirst ? 5 : 2)
        guard !overflows, record.count + run.count > size else { return }
        // As many bytes as show the error, however many have arrived.
        let known = Data(record.prefix(FirstBytes.limit)) + Data(run.prefix(FirstBytes.limit))
        throw JSONRecordError(.tooLong(limit: limit), record: count + 1, known.prefix(size + 1))
    }

    private mutating func takeRecord() throws -> Record? {
        var whole: [UInt8] = []
        swap(&whole, &record)
        defer {
            whole.removeAll(keepingCapacity: whole.capacity <= 64 << 10)
            swap(&whole, &record)
        }
        return try whole.withUnsafeBytes { try take($0) }
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) throws -> Record? {
        let hasMark = isFirst && bytes.starts(with: Self.byteOrderMark)
        isFirst = false
        let text = Self.trimmed(UnsafeRawBufferPointer(rebasing: bytes[(hasMark ? 3 : 0)...]))
        guard !text.isEmpty else { return nil }
        count += 1
        guard text.count <= limit else {
            throw JSONRecordError(.tooLong(limit: limit), record: count, Data(text.prefix(FirstBytes.limit)))
        }
        let isTruncated: Bool
        switch framing {
        case .lines: isTruncated = false
        // Text outside is not a record (§2.1), and a number may have lost its last digits (§2.4).
        case .sequence: isTruncated = !hasBegun || hasEnded || (bytes.last != 0x0a && !Self.showsEnd(text))
        }
        return Record(number: count, bytes: Data(text), isTruncated: isTruncated)
    }

    private static func showsEnd(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch (bytes.first, bytes.last) {
        case (0x7b, 0x7d), (0x5b, 0x5d): true
        case (0x22, 0x22): bytes.count > 1
        default: false
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }

    /// The text without JSON's white space at both ends.
    private static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var (start, end) = (0, bytes.count)
        while start < end, isSpace(bytes[start]) { start += 1 }
        while end > start, isSpace(bytes[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }
}

/// Finds the LF behind a JSON text: outside of its strings, arrays and objects.
private struct TextScanner: Sendable {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// Whether there was anything but white space.
    private var hasText = false

    /// Whether the byte, which is the next one, ends the text.
    mutating func ends(with byte: UInt8) -> Bool {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == 0x5c {
                isEscaped = true
            } else if byte == 0x22 {
                isInString = false
            }
            return false
        }
        switch byte {
        case 0x0a: return hasText && depth <= 0
        case 0x20, 0x09, 0x0d: return false
        case 0x22: isInString = true
        case 0x7b, 0x5b: depth += 1
        case 0x7d, 0x5d: depth -= 1
        case _: break
        }
        hasText = true
        return false
    }
}
