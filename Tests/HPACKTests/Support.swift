import LoadingKitHPACK
import Testing

/// A field as a test compares it.
struct Pair: Hashable, CustomStringConvertible {
    var name: String
    var value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    var description: String { "\(name): \(value)" }
}

extension HPACKHeaderList {
    /// The pseudo-header fields, in the order of the enumeration, then the others in the list's.
    var pairs: [Pair] {
        HPACKPseudoFieldName.allCases.compactMap { name in self[name].map { Pair(name.name, $0) } }
            + fields.map { Pair($0.name, $0.value) }
    }

    /// The pseudo-header fields, for encoding the list again.
    var encodable: HPACKPseudoFields {
        if let status { return .response(status: status) }
        guard let method else { return .none }
        guard let scheme, let path else { return .connect(authority: authority ?? "") }
        return .request(method: method, scheme: scheme, authority: authority, path: path, protocol: self.protocol)
    }
}

/// Pairs in the order of ``HPACKHeaderList/pairs``.
func sorted(_ pairs: [Pair]) -> [Pair] {
    HPACKPseudoFieldName.allCases.flatMap { name in pairs.filter { $0.name == name.name } }
        + pairs.filter { !$0.name.hasPrefix(":") }
}

/// The bytes that hexadecimal digits say; spaces are ignored.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func fields(_ pairs: KeyValuePairs<String, String>) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in pairs { fields.append(name: name, value: value) }
    return fields
}

/// The error of decoding a block, or nil.
func failure(_ decoder: inout HPACKDecoder, _ block: [UInt8]) -> HPACKError.Kind? {
    do throws(HPACKError) {
        _ = try decoder.decode(block)
        return nil
    } catch {
        return error.kind
    }
}

/// The error of decoding a block with a new decoder, or nil.
func failure(_ block: [UInt8]) -> HPACKError.Kind? {
    var decoder = HPACKDecoder()
    return failure(&decoder, block)
}

extension HPACKEncoder {
    mutating func encode(_ pseudoFields: HPACKPseudoFields = .none, _ fields: HTTPFields = HTTPFields()) -> [UInt8] {
        var block: [UInt8] = []
        encode(pseudoFields, fields, into: &block)
        return block
    }
}

func encode(_ pairs: [Pair], with encoder: inout HPACKEncoder) -> [UInt8] {
    let pseudo = Dictionary(pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    var fields = HTTPFields()
    for pair in pairs where !pair.name.hasPrefix(":") { fields.append(name: pair.name, value: pair.value) }
    if let status = pseudo[":status"].flatMap({ Int($0) }) {
        return encoder.encode(.response(status: status), fields)
    }
    return encoder.encode(
        .request(
            method: pseudo[":method"] ?? "", scheme: pseudo[":scheme"] ?? "", authority: pseudo[":authority"],
            path: pseudo[":path"] ?? ""),
        fields)
}

/// Expects that a decoder makes of each list's block what an encoder made it from, and that their tables stay alike.
func expectRoundTrip(_ lists: [[Pair]], tableSize: Int, splitsCookies: Bool, _ name: String) throws {
    var encoder = HPACKEncoder(preferredTableSize: tableSize)
    encoder.splitsCookies = splitsCookies
    encoder.setMaximumTableSize(tableSize)
    var decoder = HPACKDecoder(limits: HPACKLimits())
    decoder.setMaximumTableSize(tableSize)
    for (index, pairs) in lists.enumerated() {
        let list = try decoder.decode(encode(pairs, with: &encoder))
        let decoded = splitsCookies ? joiningCookies(list.pairs) : list.pairs
        let expected = splitsCookies ? joiningCookies(sorted(pairs)) : sorted(pairs)
        if decoded != expected { Issue.record("\(name), case \(index): \(decoded)") }
        #expect(encoder.tableSize == decoder.tableSize && decoder.tableSize <= max(tableSize, 0))
    }
}

/// The bytes of the names and values of lists, and of their blocks.
func encodedSize(_ lists: [[Pair]]) -> (raw: Int, encoded: Int) {
    var encoder = HPACKEncoder()
    return lists.reduce((0, 0)) { sizes, pairs in
        let raw = pairs.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return (sizes.0 + raw, sizes.1 + encode(pairs, with: &encoder).count)
    }
}

/// As a receiver puts cookies together again (RFC 9113 §8.2.3).
private func joiningCookies(_ pairs: [Pair]) -> [Pair] {
    let cookies = pairs.filter { $0.name == "cookie" }.map(\.value)
    return pairs.filter { $0.name != "cookie" }
        + (cookies.isEmpty ? [] : [Pair("cookie", cookies.joined(separator: "; "))])
}
