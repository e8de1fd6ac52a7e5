import Foundation

extension FormURLEncoded {
    /// The pairs of a value with named properties.
    ///
    /// Nested properties are `outer[inner]`. The elements of an array repeat the name. Booleans are `true` and `false`,
    /// dates and other types have their own coding, data is Base64, and URLs are text. Nil is omitted where the type's
    /// coding omits it (`encodeIfPresent`, which the compiler generates), and otherwise empty.
    ///
    /// - Throws: `EncodingError` where the value has no names, such as a single number or an array.
    public init(_ value: some Encodable) throws {
        let collector = PairCollector()
        try collector.encode(value, at: [])
        self.init(collector.pairs)
    }
}

/// Collects the pairs of one value's containers. Used by one thread.
private final class PairCollector {
    var pairs: [FormURLEncoded.Pair] = []

    func append(_ value: String, at path: [any CodingKey]) throws {
        guard let first = path.first else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: path, debugDescription: "a form has names, and this value has none"))
        }
        let rest = path.dropFirst().map { "[\($0.stringValue)]" }.joined()
        pairs.append(FormURLEncoded.Pair(first.stringValue + rest, value))
    }

    func encode(_ value: some Encodable, at path: [any CodingKey]) throws {
        switch value {
        case let value as String: try append(value, at: path)
        case let value as Bool: try append(String(value), at: path)
        case let value as any BinaryInteger: try append(String(describing: value), at: path)
        case let value as any BinaryFloatingPoint: try append(String(describing: value), at: path)
        case let value as Data: try append(value.base64EncodedString(), at: path)
        case let value as URL: try append(value.absoluteString, at: path)
        case let value as Decimal: try append(value.description, at: path)
        default: try value.encode(to: PairEncoder(collector: self, codingPath: path))
        }
    }
}

private struct PairEncoder: Encoder {
    let collector: PairCollector
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedPairs(collector: collector, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { PairValues(collector: collector, codingPath: codingPath) }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        PairValues(collector: collector, codingPath: codingPath)
    }
}

private struct KeyedPairs<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let collector: PairCollector
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) throws { try collector.append("", at: codingPath + [key]) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        try collector.encode(value, at: codingPath + [key])
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(KeyedPairs<Nested>(collector: collector, codingPath: codingPath + [key]))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        PairValues(collector: collector, codingPath: codingPath + [key])
    }

    mutating func superEncoder() -> any Encoder { PairEncoder(collector: collector, codingPath: codingPath) }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        PairEncoder(collector: collector, codingPath: codingPath + [key])
    }
}

/// Values without their own name: an array's elements, and single values.
private struct PairValues: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let collector: PairCollector
    let codingPath: [any CodingKey]
    private(set) var count = 0

    mutating func encodeNil() throws {
        count += 1
        try collector.append("", at: codingPath)
    }

    mutating func encode(_ value: some Encodable) throws {
        count += 1
        try collector.encode(value, at: codingPath)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        count += 1
        return KeyedEncodingContainer(KeyedPairs<Nested>(collector: collector, codingPath: codingPath))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        count += 1
        return PairValues(collector: collector, codingPath: codingPath)
    }

    mutating func superEncoder() -> any Encoder { PairEncoder(collector: collector, codingPath: codingPath) }
}
