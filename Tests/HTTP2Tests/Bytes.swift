import LoadingKitHTTP2

/// Short ways to write bytes in tests.
enum Bytes {
    /// The bytes that hexadecimal digits spell; white space between them does not count.
    static func hex(_ text: String) -> [UInt8] {
        let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The bytes that a writer appends to an empty array.
    static func written(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var output: [UInt8] = []
        write(&output)
        return output
    }

    /// A frame of any header and payload, right or wrong.
    static func frame(type: UInt8, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8], length: Int? = nil) -> [UInt8]
    {
        let length = length ?? payload.count
        let header = [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: length), type, flags,
        ]
        return header + withUnsafeBytes(of: stream.bigEndian) { Array($0) } + payload
    }
}
