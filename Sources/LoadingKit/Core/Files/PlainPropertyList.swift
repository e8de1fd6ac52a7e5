import Foundation

/// Reads property lists of dictionaries, arrays, strings, numbers, dates and data.
///
/// Foundation terminates the process when it converts a set of a binary property list. Only malformed bytes contain one,
/// as programs cannot write it, so that bytes with other kinds of objects are not passed to Foundation.
package enum PlainPropertyList {
    /// Nil for bytes that are no property list, or whose root is no dictionary.
    package static func dictionary(_ data: Data) -> [String: Any]? {
        let bytes = [UInt8](data)
        guard !bytes.starts(with: "bplist".utf8) || hasPlainObjects(bytes) else { return nil }
        return try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    }

    /// Checks the kinds of all objects. The last 32 bytes of a binary property list are the size of an offset, the number
    /// of objects, and the place of the objects' offsets.
    private static func hasPlainObjects(_ bytes: [UInt8]) -> Bool {
        let end = bytes.count - 32
        guard end > 0 else { return false }
        let size = Int(bytes[end + 6])
        let (count, start) = (number(bytes[(end + 8)..<(end + 16)]), number(bytes[(end + 24)...]))
        guard 1...8 ~= size, start <= end, count <= (end - start) / size else { return false }
        return (0..<count).allSatisfy { index in
            let place = start + index * size
            let offset = number(bytes[place..<(place + size)])
            return offset < start && isPlain(bytes[offset])
        }
    }

    /// The upper four bits are the kind: Booleans, integers, reals, dates, data, strings in ASCII and in UTF-16, arrays and
    /// dictionaries.
    private static func isPlain(_ marker: UInt8) -> Bool {
        switch marker >> 4 {
        case 0...6, 0xA, 0xD: true
        default: false
        }
    }

    /// Numbers are in network byte order.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        Int(clamping: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
