import Foundation

/// The error for a line that has more bytes than the limit.
public struct LineTooLong: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The largest number of bytes in a line.
    public var limit: Int
    /// The line's number, from 1. Empty lines count.
    public var line: Int

    /// The description in plain words.
    public var description: String {
        "line \(line) has more than \(limit) bytes: give a larger maximumLineSize where the server is trusted"
    }

    /// The description.
    public var errorDescription: String? { description }
}

/// Divides bytes into lines, regardless of how they are divided into pieces, like LoadingKit's and Apple's
/// `AsyncLineSequence`: a line ends with LF, CR, CR LF, VT, FF, NEL (U+0085), LS (U+2028) or PS (U+2029). Pure.
struct LineSplitter: Splitter {
    private let limit: Int
    private let keepsEmpty: Bool
    private var line: [UInt8] = []
    private var isAfterCarriageReturn = false
    private var count = 0

    init(limit: Int, keepsEmpty: Bool) {
        self.limit = limit
        self.keepsEmpty = keepsEmpty
    }

    /// Appends the lines that end in these bytes.
    mutating func receive(_ bytes: Data, into lines: inout [String]) throws {
        try bytes.withUnsafeBytes { try split($0, &lines) }
    }

    /// The last line, if it has no end; nil where the text ends with a line end.
    mutating func finish() throws -> String? {
        guard !line.isEmpty else { return nil }
        defer { line.removeAll() }
        guard line.count <= limit else { throw LineTooLong(limit: limit, line: count + 1) }
        return String(decoding: line, as: UTF8.self)
    }

    private mutating func split(_ bytes: UnsafeRawBufferPointer, _ lines: inout [String]) throws {
        var start = 0
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == 0x0a, isAfterCarriageReturn {
                isAfterCarriageReturn = false
                start = position
                continue
            }
            isAfterCarriageReturn = false
            // Most bytes do not end a line.
            guard Self.mayEnd(byte) else { continue }
            let ending = endingLength(bytes, start, position)
            guard ending > 0 else { continue }
            try take(UnsafeRawBufferPointer(rebasing: bytes[start..<position]), ending, &lines)
            isAfterCarriageReturn = byte == 0x0d
            start = position
        }
        line.append(contentsOf: bytes[start...])
        // Three bytes may be the start of a line end. `limit + 3` could overflow.
        guard line.count - 3 <= limit else { throw LineTooLong(limit: limit, line: count + 1) }
    }

    private static func mayEnd(_ byte: UInt8) -> Bool {
        (0x0a...0x0d).contains(byte) || byte == 0x85 || byte == 0xa8 || byte == 0xa9
    }

    /// The number of bytes of the line end before `position`; 0 where there is none.
    private func endingLength(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ position: Int) -> Int {
        func byte(_ back: Int) -> UInt8? {
            let index = position - back
            if index >= start { return bytes[index] }
            let earlier = line.count - (start - index)
            return start == 0 && earlier >= 0 && earlier < line.count ? line[earlier] : nil
        }
        switch byte(1) {
        case 0x0a, 0x0b, 0x0c, 0x0d: return 1
        case 0x85: return byte(2) == 0xc2 ? 2 : 0
        default: return byte(2) == 0x80 && byte(3) == 0xe2 ? 3 : 0
        }
    }

    private mutating func take(_ run: UnsafeRawBufferPointer, _ ending: Int, _ lines: inout [String]) throws {
        count += 1
        let length = line.count + run.count - ending
        guard length <= limit else { throw LineTooLong(limit: limit, line: count) }
        guard length > 0 else {
            line.removeAll(keepingCapacity: true)
            if keepsEmpty { lines.append("") }
            return
        }
        if line.isEmpty {
            lines.append(String(decoding: run.dropLast(ending), as: UTF8.self))
        } else {
            line.append(contentsOf: run)
            lines.append(String(decoding: line.dropLast(ending), as: UTF8.self))
            line.removeAll(keepingCapacity: line.capacity <= 64 << 10)
        }
    }
}
