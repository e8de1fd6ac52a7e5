import Foundation
import LoadingKitCore

/// Encodes values as bytes: numbers in little-endian order, strings and data preceded by their lengths.
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

/// Decodes the values that a ``ByteWriter`` encoded; nil for other bytes.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    /// - Parameter bytes: Must be valid while the reader is used.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var countOfRest: Int { bytes.count - position }
    var isAtEnd: Bool { countOfRest == 0 }

    private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= countOfRest else { return nil }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func readByte() -> UInt8? { take(1)?.first }

    mutating func readFlag() -> Bool? { readByte().flatMap { $0 > 1 ? nil : $0 == 1 } }

    mutating func readNumber() -> Int64? {
        take(8).map { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) }
    }

    mutating func readDate() -> Date? {
        guard let seconds = readNumber().map({ Double(bitPattern: UInt64(bitPattern: $0)) }), seconds.isFinite else {
            return nil
        }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    mutating func readBuffer() -> UnsafeRawBufferPointer? {
        guard let count = take(4).map({ UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }) else { return nil }
        return take(Int(count))
    }

    mutating func readString() -> String? { readBuffer().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func readData() -> Data? { readBuffer().map { Data($0) } }

    /// A value that may be absent. The outer nil means that the bytes are invalid.
    mutating func readOptional<Value>(_ take: (inout ByteReader) -> Value?) -> Value?? {
        switch readFlag() {
        case nil: return nil
        case false?: return .some(nil)
        case true?: return take(&self).map { .some($0) }
        }
    }
}

/// Encodes user info, if it consists of strings, numbers, dates, data, arrays, and dictionaries.
enum PropertyList {
    static func bytes(_ dictionary: [AnyHashable: Any]) -> Data? {
        guard let plain = plain(dictionary) else { return nil }
        return try? PropertyListSerialization.data(fromPropertyList: plain, format: .binary, options: 0)
    }

    static func dictionary(_ bytes: Data) -> [AnyHashable: Any]? {
        PlainPropertyList.dictionary(bytes)
    }

    /// Foundation terminates the process for some values that it cannot write, so they are excluded here.
    private static func plain(_ value: Any) -> Any? {
        switch value {
        case let string as String: return string
        case let data as Data: return data
        case let date as Date: return date
        case let number as NSNumber: return number
        case let array as [Any]:
            let plain = array.compactMap { Self.plain($0) }
            return plain.count == array.count ? plain : nil
        case let dictionary as [AnyHashable: Any]:
            var plain: [String: Any] = [:]
            for (key, value) in dictionary {
                guard let key = key.base as? String, let value = Self.plain(value) else { return nil }
                plain[key] = value
            }
            return plain
        default: return nil
        }
    }
}
