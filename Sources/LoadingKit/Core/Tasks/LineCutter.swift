import Foundation

/// Cuts bytes into lines, wherever their pieces are cut; empty lines are left out. Pure.
struct LineCutter: Sendable {
    /// Bytes that a line may have, without its end.
    private let limit: Int
    private var piece: [UInt8] = []
    /// The first byte of the piece that is in no line yet.
    private var position = 0
    /// What earlier pieces have of the line.
    private var line: [UInt8] = []

    init(limit: Int = .max) { self.limit = limit }

    /// The next bytes. To be called when ``next()`` gives nil.
    mutating func receive(_ bytes: [UInt8]) {
        piece = bytes
        position = 0
    }

    /// The next line that has an end; nil where more bytes are needed.
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
        // The last bytes may be the beginning of an end.
        try check(line.count - LineEnding.longest)
        return nil
    }

    private func check(_ count: Int) throws(URLError) {
        if count > limit { throw URLError(LoadFailure.lineTooLong(limit), url: nil) }
    }

    /// What is left behind the last end; nil where there is nothing.
    mutating func finish() throws(URLError) -> String? {
        try check(line.count)
        defer { line.removeAll(keepingCapacity: line.capacity <= 64 << 10) }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// Where the next byte is that may end a line.
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

/// What ends a line: LF, CR, CR LF, VT, FF, NEL (U+0085), LS (U+2028) or PS (U+2029). CR LF is CR, and then an empty line.
enum LineEnding {
    /// Bytes of the longest.
    static let longest = 3

    /// Whether the last byte of an end may be this.
    @inline(__always)
    static func mayEnd(_ byte: UInt8) -> Bool {
        byte <= 0x0d ? byte >= 0x0a : byte == 0x85 || byte == 0xa8 || byte == 0xa9
    }

    /// How many bytes at the end of these are a line's end.
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
