import Foundation
import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Names and values in the order in which they are sent: `application/x-www-form-urlencoded`, by the WHATWG's URL
/// standard (§5). Names may repeat.
///
///     request.setForm(FormURLEncoded(["q": "a b", "page": "2"]))      // q=a+b&page=2
public struct FormURLEncoded: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A name and its value.
    public struct Pair: Sendable, Hashable {
        /// The name; may be empty.
        public var name: String
        /// The value; may be empty.
        public var value: String

        /// A name and its value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// `application/x-www-form-urlencoded`.
    public static let contentType = "application/x-www-form-urlencoded"

    /// The pairs, in order.
    public var pairs: [Pair]

    /// Makes a form with these pairs; none by default.
    public init(_ pairs: [Pair] = []) { self.pairs = pairs }

    /// Makes a form with these pairs, in their order.
    public init(_ pairs: KeyValuePairs<String, String>) { self.init(pairs.map { Pair($0.key, $0.value) }) }

    /// Makes a form with the literal's pairs, in their order.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements.map { Pair($0.0, $0.1) }) }

    /// Parses text of this form. Never fails: each non-empty piece between two `&` is a pair, whose value is the part
    /// after the first `=`; bytes that are not UTF-8 become U+FFFD.
    public init(parsing text: some StringProtocol) { self.init(parsing: Data(text.utf8)) }

    /// Parses bytes of this form; see ``init(parsing:)-(StringProtocol)``.
    public init(parsing bytes: Data) {
        pairs = FormPairs.parsed(Array(bytes)).map { Pair($0.name, $0.value) }
    }

    /// Appends a pair.
    public mutating func append(_ name: String, _ value: String) { pairs.append(Pair(name, value)) }

    /// The values of a name, in order.
    public func values(of name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }

    /// The first value of a name; nil where there is none.
    public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// The encoded text, as it is sent.
    public var encoded: String { FormPairs.encoded(pairs.map { ($0.name, $0.value) }) }
}

extension URLRequest {
    /// Sets the request's body to the pairs, and `Content-Type`. The method `GET` becomes `POST`.
    public mutating func setForm(_ form: FormURLEncoded) {
        if httpMethod == "GET" { httpMethod = "POST" }
        setValue(FormURLEncoded.contentType, forHTTPHeaderField: "Content-Type")
        setValue(nil, forHTTPHeaderField: "Content-Length")
        httpBody = Data(form.encoded.utf8)
    }
}
