import Foundation

/// The coding of a setting's value for the process that performs a background session's transfers.
package struct SettingCoding<Value>: Sendable {
    /// Nil: the value equals the one that a missing coded value stands for. Throws where the value cannot be
    /// transmitted.
    let encode: @Sendable (Value) throws -> CodedValue?
    /// Nil where the coded value is not such a value.
    let decode: @Sendable (CodedValue) -> Value?

    /// The coding for another type of value, such as an optional, that converts to and from this one.
    func map<Other>(
        _ decode: @escaping @Sendable (Value) -> Other?, _ encode: @escaping @Sendable (Other) throws -> Value?
    ) -> SettingCoding<Other> {
        SettingCoding<Other>(
            encode: { [self] in try encode($0).flatMap { try self.encode($0) } },
            decode: { [self] in self.decode($0).flatMap(decode) })
    }

    var optional: SettingCoding<Value?> { map({ .some($0) }, { $0 }) }
}

extension SettingCoding where Value == Bool {
    static var flag: Self { Self(encode: { .flag($0) }, decode: { $0.flag }) }
}

extension SettingCoding where Value == Int {
    static var integer: Self {
        Self(encode: { .integer(Int64($0)) }, decode: { $0.integer.flatMap { Int(exactly: $0) } })
    }
}

extension SettingCoding where Value == String {
    static var text: Self { Self(encode: { .text($0) }, decode: { $0.text }) }
}

extension SettingCoding where Value == TimeInterval {
    static var seconds: Self { Self(encode: { CodedValue($0) }, decode: { $0.double }) }
}

extension SettingCoding where Value == [String] {
    static var words: Self {
        Self(
            encode: { .list($0.map { .text($0) }) },
            decode: { coded in
                guard let list = coded.list else { return nil }
                let words = list.compactMap(\.text)
                return words.count == list.count ? words : nil
            })
    }
}

extension SettingCoding where Value: RawRepresentable & Sendable, Value.RawValue: BinaryInteger & Sendable {
    static var number: Self {
        Self(
            encode: { .integer(Int64(clamping: $0.rawValue)) },
            decode: { $0.integer.flatMap { Value.RawValue(exactly: $0) }.flatMap(Value.init) })
    }
}

extension SettingCoding where Value: Codable & Sendable {
    /// Codes the value by the type's own conformance.
    static var own: Self { Self(encode: { try CodedValue(encoding: $0) }, decode: { try? $0.decoded(as: Value.self) }) }
}

/// Names and values of fields, in order.
extension SettingCoding where Value == [(String, String)]? {
    static var fields: Self {
        Self(
            encode: { .list(($0 ?? []).map { .list([.text($0.0), .text($0.1)]) }) },
            decode: { coded -> Value? in
                guard let list = coded.list else { return nil }
                let fields = list.compactMap { pair -> (String, String)? in
                    guard let pair = pair.list, pair.count == 2, let name = pair[0].text, let value = pair[1].text
                    else { return nil }
                    return (name, value)
                }
                guard fields.count == list.count else { return nil }
                return .some(fields.isEmpty ? nil : fields)
            })
    }
}

/// The dictionary of proxies, as JSON: strings, numbers, lists of them, and URLs, which are coded as text.
extension SettingCoding where Value == [AnyHashable: Any]? {
    static var proxies: Self {
        Self(
            encode: { dictionary in
                guard let dictionary else { return nil }
                var plain: [String: Any] = [:]
                for (key, value) in dictionary {
                    guard let name = key.base as? String, let value = plainProxyValue(value) else {
                        throw SettingProblem("its value for \(key.base) is a \(type(of: value))")
                    }
                    plain[name] = value
                }
                guard Int(proxySetting: plain[kCFNetworkProxiesProxyAutoConfigEnable] ?? 0) == 0 else {
                    let key = kCFNetworkProxiesProxyAutoConfigEnable
                    throw SettingProblem(
                        "it says that a script finds the proxies (\(key)), which nothing could run there")
                }
                let json = try JSONSerialization.data(withJSONObject: plain, options: .sortedKeys)
                return .text(json.base64EncodedString())
            },
            decode: { coded -> Value? in
                coded.text.flatMap { Data(base64Encoded: $0) }
                    .flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
            })
    }
}

/// The JSON form of a value; nil where it has none.
private func plainProxyValue(_ value: Any) -> Any? {
    if let url = value as? URL { return url.absoluteString }
    if let values = value as? [Any] {
        let plain = values.compactMap { plainProxyValue($0) }
        return plain.count == values.count ? plain : nil
    }
    return JSONSerialization.isValidJSONObject([value]) ? value : nil
}

/// The reason why a setting's value cannot be transmitted to the process that performs transfers, or cannot be decoded
/// there.
package struct SettingProblem: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
