import LoadingKitHPACK

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

/// What decoding a block throws, or nil.
func failure(_ decoder: inout HPACKDecoder, _ block: [UInt8]) -> HPACKError.Kind? {
    do throws(HPACKError) {
        _ = try decoder.decode(block)
        return nil
    } catch {
        return error.kind
    }
}

/// What decoding a block with a new decoder throws, or nil.
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
