import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A request in the form that Signature Version 4 signs: method, path, query, fields, and the digest of the body.
///
/// By S3's rules: the path is encoded once, and neither `//` nor `..` are removed from it.
struct CanonicalRequest: Sendable, Equatable {
    var method: String
    /// The path as it is sent, percent-encoded. Empty means `/`.
    var path: String
    /// Decoded names and values.
    var query: [QueryItem]
    /// The fields to sign. Names may have any case; the values of several fields with one name are joined by commas, in
    /// order.
    var fields: [Field]
    /// The hexadecimal SHA-256 of the body, or its replacement, such as `UNSIGNED-PAYLOAD`.
    var payload: String

    /// A name and its value in the query. A name alone has the value "".
    struct QueryItem: Sendable, Hashable {
        var name: [UInt8]
        var value: [UInt8]

        init(_ name: String, _ value: String = "") {
            self.name = Array(name.utf8)
            self.value = Array(value.utf8)
        }

        /// Parses an encoded item; `+` is a plus.
        init(encoded text: Substring) {
            let equals = text.firstIndex(of: "=")
            name = PercentCoding.decoded(String(text[..<(equals ?? text.endIndex)]))
            value = equals.map { PercentCoding.decoded(String(text[text.index(after: $0)...])) } ?? []
        }

        var encodedName: String { PercentCoding.encoded(name) }
        var encoded: String { "\(encodedName)=\(PercentCoding.encoded(value))" }

        /// The items of an encoded query.
        static func items(of query: String) -> [QueryItem] {
            query.split(separator: "&").map { QueryItem(encoded: $0) }
        }

        /// A query to send: each item has `=`, so that the sent query equals the signed one.
        static func query(_ items: [QueryItem]) -> String { items.map(\.encoded).joined(separator: "&") }
    }

    struct Field: Sendable, Hashable {
        var name: String
        var value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The names of the signed fields, in lower case, sorted, with semicolons between.
    var signedFields: String { Set(fields.map { $0.name.lowercased() }).sorted().joined(separator: ";") }

    /// The text whose digest is part of the string to sign.
    var text: String {
        let lines = [method, path.isEmpty ? "/" : path, canonicalQuery, canonicalFields, signedFields, payload]
        return lines.joined(separator: "\n")
    }

    private var canonicalQuery: String {
        query.map { ($0.encodedName, PercentCoding.encoded($0.value)) }.sorted { $0 < $1 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private var canonicalFields: String {
        let values = Dictionary(grouping: fields) { $0.name.lowercased() }
        return values.sorted { $0.key < $1.key }
            .map { "\($0.key):\($0.value.map { Self.trimmed($0.value) }.joined(separator: ","))\n" }.joined()
    }

    /// The value without white space at the ends, and with one space in place of several. By scalars: a space forms one
    /// character with a combining mark behind it.
    private static func trimmed(_ value: String) -> String {
        value.unicodeScalars.split { $0 == " " || $0 == "\t" }.map { String($0) }.joined(separator: " ")
    }
}
