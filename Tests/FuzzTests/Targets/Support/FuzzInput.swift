/// Reads decisions, numbers and bytes from an input of the fuzzer. After the input's end all of them are 0 or empty.
struct FuzzInput {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { self.bytes = ArraySlice(bytes) }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// A number from 0 to below `bound`, of one byte.
    mutating func number(below bound: Int) -> Int { Int(byte()) % max(1, bound) }

    /// A number of 32 bits, small ones as often as large ones.
    mutating func word() -> UInt32 {
        let count = number(below: 5)
        return (0..<count).reduce(0) { word, _ in word << 8 | UInt32(byte()) }
    }

    mutating func take(_ count: Int) -> [UInt8] {
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    mutating func rest() -> [UInt8] { take(bytes.count) }

    mutating func text() -> String { String(decoding: rest(), as: UTF8.self) }

    /// The lengths of the pieces in which the same bytes are fed a second time.
    mutating func cuts() -> Cuts { Cuts(first: Int(byte() & 31) + 1, second: Int(byte()) + 1) }
}

/// Divides bytes into pieces of two lengths in turn.
struct Cuts {
    var first: Int
    var second: Int

    func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + (pieces.count.isMultiple(of: 2) ? first : second))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes. The error keeps its type.
    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
    }
}
