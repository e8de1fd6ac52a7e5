import LoadingKitForms

/// Name and value of a form's field, of a query's item, or of a header field.
public struct NamedValue: Sendable, Hashable, CustomStringConvertible {
    /// The name, decoded.
    public var name: String
    /// The value, decoded; empty for a query item without `=`.
    public var value: String

    /// Makes a pair from a name and a value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// `name=value`.
    public var description: String { "\(name)=\(value)" }
}

extension NamedValue {
    /// The fields of a form, or the items of a query, in their order.
    static func list(ofForm text: some StringProtocol) -> [NamedValue] {
        FormURLEncoded(parsing: text).pairs.map { NamedValue(name: $0.name, value: $0.value) }
    }
}
