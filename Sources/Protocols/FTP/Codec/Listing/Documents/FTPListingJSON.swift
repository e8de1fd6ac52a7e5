/// A directory as JSON (RFC 8259): an object whose `entries` have an object for each entry.
///
///     {"entries":[{"name":"a file.txt","encodedName":"a%20file.txt","type":"file","size":531,"modified":"2026-01-31T23:05:09Z"},
///     {"name":"latest","encodedName":"latest","type":"link","target":"2026","encodedTarget":"2026"}],
///     "unreadableLines":0}
///
/// `unreadableLines` says how many lines of the server's listing could not be read, so that there may be as many entries more.
///
/// - `name` is the name as text. Bytes that are not UTF-8 become U+FFFD in it.
/// - `encodedName` has the name's bytes exactly: percent-encoded, ready to be a segment of a URL's path.
/// - `type` is `file`, `directory`, `link` or `other`.
/// - `size`, `modified` (ISO 8601, as precise as the server told, with `Z` where it is known to be UTC), `permissions`, and a
///   link's `target` and `encodedTarget` are there where they are known.
/// - `facts` has what MLSD told, where it did: an object of strings.
///
/// It is made in pieces, so that a listing of any length can be passed on as it comes: ``begin()``, ``row(for:)`` for each entry,
/// ``end(unreadableLineCount:)``.
public struct FTPListingJSON: Sendable, FTPListingDocument {
    private var isFirst = true

    /// The JSON of a directory.
    public init() {}

    /// What is before the first entry.
    public func begin() -> [UInt8] { Array("{\"entries\":[".utf8) }

    /// One entry's object, and the comma after the one before it.
    public mutating func row(for entry: FTPEntry) -> [UInt8] {
        var members: [(String, [UInt8])] = [
            ("name", Self.string(entry.name)),
            ("encodedName", Self.string(FTPListingLink.encoded(entry.name))),
            ("type", Self.string(Array(entry.kind.rawValue.utf8))),
        ]
        if let size = entry.size { members.append(("size", Array(String(size).utf8))) }
        if let time = entry.modification { members.append(("modified", Self.string(Array(time.description.utf8)))) }
        if let permissions = entry.permissions {
            members.append(("permissions", Self.string(Array(permissions.utf8))))
        }
        if let target = entry.target {
            members.append(("target", Self.string(target)))
            members.append(("encodedTarget", Self.string(FTPListingLink.encoded(target))))
        }
        if !entry.facts.isEmpty { members.append(("facts", Self.object(entry.facts))) }
        defer { isFirst = false }
        return Array((isFirst ? "" : ",\n").utf8) + Self.object(members)
    }

    /// What is after the last entry.
    ///
    /// - Parameter unreadableLineCount: that of the parser (``FTPListingParser/unreadableLineCount``), at the end.
    public func end(unreadableLineCount: Int) -> [UInt8] {
        Array("],\n\"unreadableLines\":\(unreadableLineCount)}\n".utf8)
    }

    private static func object(_ facts: [String: String]) -> [UInt8] {
        object(facts.sorted { $0.key < $1.key }.map { ($0.key, string(Array($0.value.utf8))) })
    }

    private static func object(_ members: [(String, [UInt8])]) -> [UInt8] {
        let members = members.map { string(Array($0.0.utf8)) + Array(":".utf8) + $0.1 }
        return Array("{".utf8) + Array(members.joined(separator: ",".utf8)) + Array("}".utf8)
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        var result = Array("\"".utf8)
        for byte in String(decoding: bytes, as: UTF8.self).utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7F: result += "\\u00\(String(0x100 + Int(byte), radix: 16).dropFirst())".utf8
            default: result.append(byte)
            }
        }
        return result + Array("\"".utf8)
    }
}
