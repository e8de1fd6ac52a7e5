import Foundation

/// Puts values into bytes: numbers little-endian, strings and data after their lengths.
struct ByteWriter {
    private(set) var data = Data()

    mutating func put(_ byte: UInt8) { data.append(byte) }
    mutating func put(_ flag: Bool) { data.append(flag ? 1 : 0) }
    mutating func put(_ number: Int64) { withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) } }
    mutating func put(_ date: Date) { put(Int64(bitPattern: date.timeIntervalSinceReferenceDate.bitPattern)) }

    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: bytes.count).littleEndian) { data.append(contentsOf: $0) }
        data.append(contentsOf: bytes)
    }

    mutating func put(_ string: String) {
        var string = string
        string.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }

    mutating func put(_ bytes: Data) { bytes.withUnsafeBytes { put($0) } }

    mutating func put<Value>(_ value: Value?, _ put: (inout ByteWriter, Value) -> Void) {
        self.put(value != nil)
        if let value { put(&self, value) }
    }
}

/// Takes out what a ``ByteWriter`` put in; nil where the bytes are something else.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// - Parameter bytes: Valid as long as the reader is used.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= bytes.count - position else { return nil }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func byte() -> UInt8? { take(1)?.first }

    mutating func flag() -> Bool? { byte().flatMap { $0 > 1 ? nil : $0 == 1 } }

    mutating func number() -> Int64? {
        take(8).map { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) }
    }

    mutating func date() -> Date? {
        guard let seconds = number().map({ Double(bitPattern: UInt64(bitPattern: $0)) }), seconds.isFinite else {
            return nil
        }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    mutating func buffer() -> UnsafeRawBufferPointer? {
        guard let count = take(4).map({ UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }) else { return nil }
        return take(Int(count))
    }

    mutating func string() -> String? { buffer().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func data() -> Data? { buffer().map { Data($0) } }

    /// A value that may be absent; the outer nil says that the bytes are something else.
    mutating func optional<Value>(_ take: (inout ByteReader) -> Value?) -> Value?? {
        switch flag() {
        case nil: return nil
        case false?: return .some(nil)
        case true?: return take(&self).map { .some($0) }
        }
    }
}
