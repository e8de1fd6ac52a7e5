import Foundation

/// Divides bytes into lines, regardless of how the bytes are divided into pieces; empty lines are omitted. Pure.
struct LineCutter: Sendable {
    /// The largest number of bytes in a line, without its end.
    private let limit: Int
    private var piece: [UInt8] = []
    /// The position of the first byte of the piece that no line contains yet.
    private var position = 0
    /// The part of the line that earlier pieces contain.
    private var line: [UInt8] = []

    init(limit: Int = .max) { self.limit = limit }

    /// Adds the next bytes. Called when ``next()`` returns nil.
    mutating func receive(_ bytes: [UInt8]) {
        piece = bytes
        position = 0
    }

    /// The next line with an end; nil where more bytes are needed.
    mutating func next() throws(URLError) -> String? {
        while let end = nextEnd() {
            let run = piece[position...end]
            position = end + 1
            if line.isEmpty {
                let ending = LineEnding.length(at: run)
                if ending > 0 {
                    try check(run.count - ending)
                    if run.count > ending { return String(decoding: run.dropLast(ending), as: UTF8.self) }
                } else {
                    line.append(contentsOf: run)
                }
            } else {
                line.append(contentsOf: run)
                let ending = LineEnding.length(at: line[...])
                if ending > 0 {
                    line.removeLast(ending)
                    if let text = try finish() { return text }
                }
            }
        }
        line.append(contentsOf: piece[position...])
        position = piece.count
        // The last bytes may be the start of a line end.
        try check(line.count - LineEnding.longest)
        return nil
    }

    private func check(_ count: Int) throws(URLError) {
        if count > limit { throw URLError(LoadFailure.lineTooLong(limit), url: nil) }
    }

    /// The bytes behind the last line end; nil where there are none.
    mutating func finish() throws(URLError) -> String? {
        try check(line.count)
        defer { line.removeAll(keepingCapacity: line.capacity <= 64 << 10) }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// The position of the next byte that may end a line.
    private func nextEnd() -> Int? {
        piece.withUnsafeBufferPointer { bytes in
            var index = position
            while index < bytes.count {
                if LineEnding.mayEnd(bytes[index]) { return index }
                index += 1
            }
            return nil
        }
    }
}

/// The ends of a line: LF, CR, CR LF, VT, FF, NEL (U+0085), LS (U+2028) or PS (U+2029). CR LF counts as CR, followed by
/// an empty line.
enum LineEnding {
    /// The number of bytes of the longest line end.
    static let longest = 3

    /// Whether this may be the last byte of a line end.
    @inline(__always)
    static func mayEnd(_ byte: UInt8) -> Bool {
        byte <= 0x0d ? byte >= 0x0a : byte == 0x85 || byte == 0xa8 || byte == 0xa9
    }

    /// The number of bytes of the line end at the end of `bytes`; 0 where there is none.
    static func length(at bytes: ArraySlice<UInt8>) -> Int {
        switch bytes.last {
        case 0x0a, 0x0b, 0x0c, 0x0d: 1
        case 0x85 where bytes.suffix(2).elementsEqual([0xc2, 0x85]): 2
        case 0xa8 where bytes.suffix(3).elementsEqual([0xe2, 0x80, 0xa8]): 3
        case 0xa9 where bytes.suffix(3).elementsEqual([0xe2, 0x80, 0xa9]): 3
        default: 0
        }
    }
}

extension LoadFailure {
    fileprivate static func lineTooLong(_ limit: Int) -> LoadFailure {
        LoadFailure(
            .dataLengthExceedsMaximum,
            "a line of the body has more than \(limit) bytes, the most that the maximumLineSize of the bytes allows: raise that, "
                + "or read bytes or chunks")
    }
}
