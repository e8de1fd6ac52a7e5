@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A directory as JSON (RFC 8259): an object whose `entries` array has an object for each entry.
///
///     {"entries":[{"name":"a b","encodedName":"a%20b","type":"file","size":531,"modified":"2026-01-31T23:05:09Z"},
///     {"name":"latest","encodedName":"latest","type":"link","target":"2026","encodedTarget":"2026"}],
///     "unreadableLines":0}
///
/// `unreadableLines` is the number of lines of the server's listing that could not be parsed. Each of these lines may
/// be an entry that is missing here.
///
/// - `name` is the name as text, in which U+FFFD replaces bytes that are not UTF-8.
/// - `encodedName` has exactly the name's bytes, percent-encoded, for use as a segment of a URL's path.
/// - `type` is `file`, `directory`, `link` or `other`.
/// - `size`, `modified` (ISO 8601, with the precision that the server reports, and with `Z` if the time is known to be
///   UTC), `permissions`, and a link's `target` and `encodedTarget` are present if they are known.
/// - `facts` is an object of strings with the facts of an MLSD listing, if there are any.
///
/// The JSON is produced in parts, so that listings of any length can be streamed: ``begin()``, ``row(for:)`` for each
/// entry, ``end(unreadableLineCount:)``.
public struct FTPListingJSON: Sendable, FTPListingDocument {
    private var isFirst = true

    /// The JSON of a directory.
    public init() {}

    /// The text before the first entry.
    public func begin() -> [UInt8] { Array("{\"entries\":[".utf8) }

    /// One entry's object, with the comma that separates it from the previous one.
    public mutating func row(for entry: FTPEntry) -> [UInt8] {
        var members: [(String, [UInt8])] = [
            ("name", Self.string(entry.name)),
            ("encodedName", Self.encoded(entry.name)),
            ("type", Self.string(Array(entry.kind.rawValue.utf8))),
        ]
        if let size = entry.size { members.append(("size", Array(String(size).utf8))) }
        if let time = entry.modification { members.append(("modified", Self.string(Array(time.description.utf8)))) }
        if let permissions = entry.permissions {
            members.append(("permissions", Self.string(Array(permissions.utf8))))
        }
        if let target = entry.target {
            members.append(("target", Self.string(target)))
            members.append(("encodedTarget", Self.encoded(target)))
        }
        if !entry.facts.isEmpty { members.append(("facts", Self.object(entry.facts))) }
        defer { isFirst = false }
        return Array((isFirst ? "" : ",\n").utf8) + Self.object(members)
    }

    /// The text after the last entry.
    ///
    /// - Parameter unreadableLineCount: the parser's ``FTPListingParser/unreadableLineCount`` at the end of the
    ///   listing.
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

    private static func encoded(_ bytes: [UInt8]) -> [UInt8] { string(Array(PercentCoding.encoded(bytes).utf8)) }

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
