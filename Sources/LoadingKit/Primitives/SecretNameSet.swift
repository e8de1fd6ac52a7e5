/// Names of values that are secret, and their comparison: one way for all code that displays, records or reports
/// queries, forms and bodies.
///
/// Names are compared regardless of case, `-` and `_`. Texts are divided by bytes: a separator may form one character
/// with the characters beside it.
@_spi(LoadingKitPlugins)
public struct SecretNameSet: Sendable {
    private let keys: Set<String>

    /// Makes a set of these names.
    public init(_ names: Set<String>) { keys = Set(names.map(Self.key)) }

    /// Whether no value is secret.
    public var isEmpty: Bool { keys.isEmpty }

    /// The form in which names are compared.
    public static func key(_ name: String) -> String {
        let bytes = name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a value with this name is secret. Of a name such as `user[password]` or `#token`, each part counts, too.
    public func contains(_ name: String) -> Bool {
        let parts = name.utf8.split { "[].#/ ".utf8.contains($0) }
        return keys.contains(Self.key(name))
            || parts.contains { keys.contains(Self.key(String(decoding: $0, as: UTF8.self))) }
    }

    /// The pairs of a query or of a form's body, in which the values of secret names are replaced, and all else is
    /// unchanged.
    ///
    /// Some servers separate pairs with semicolons. The text after a secret name is replaced up to the next `&`.
    public func hidingValues(in pairs: String, by placeholder: String) -> String {
        let separator = UInt8(ascii: "&")
        let shown = Array(pairs.utf8).split(separator: separator, omittingEmptySubsequences: false)
            .map { pair -> [UInt8] in
                guard let equals = equalsOfSecret(in: pair) else { return Array(pair) }
                return Array(pair[...equals]) + Array(placeholder.utf8)
            }
        return String(decoding: Array(shown.joined(separator: [separator])), as: UTF8.self)
    }

    /// A URL without a fragment, in which users, and the values of secret names in the query, are replaced.
    public func hidingSecrets(inURL text: String, users: String, values: String) -> String {
        let place = text.utf8.prefix { $0 != UInt8(ascii: "?") }
        let shown = URLUsers.hidden(in: String(decoding: place, as: UTF8.self), by: users)
        guard place.count < text.utf8.count else { return shown }
        let query = String(decoding: text.utf8.dropFirst(place.count + 1), as: UTF8.self)
        return shown + "?" + hidingValues(in: query, by: values)
    }

    /// The position of the first equals sign that follows a secret name.
    private func equalsOfSecret(in pair: ArraySlice<UInt8>) -> Int? {
        var rest = pair
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let name = rest[..<equals].split(separator: UInt8(ascii: ";")).last ?? []
            if contains(String(decoding: PercentCoding.decoded(name, isForm: true), as: UTF8.self)) { return equals }
            guard let next = rest[equals...].firstIndex(of: UInt8(ascii: ";")) else { return nil }
            rest = rest[(next + 1)...]
        }
        return nil
    }
}
