import Foundation
import LoadingKitForms

/// What a recording must not have: the values of header fields, of query items, and of fields in JSON and form bodies,
/// by their names. In their place it has ``marker``, which stands for any value when the recording is replayed.
///
/// Names of query items and of fields in bodies are compared without regard to case, `-` and `_`: `accessToken` is
/// `access_token`. User and password in a URL are always redacted. What is in a body of another kind, such as plain
/// text, stays.
public struct HARRedaction: Sendable, Hashable {
    /// What a recording has in place of a value: `(redacted)`.
    public static let marker = "(redacted)"

    /// Names of header fields. Of `Cookie` and `Set-Cookie` the cookies' values alone are redacted, of `Authorization`
    /// and `Proxy-Authorization` what follows the scheme.
    public var headerFields: Set<String>
    /// Names of query items, of fields of forms, and of members of JSON objects.
    public var names: Set<String>
    /// Names of cookies whose values stay. Default none.
    public var openCookies: Set<String> = []

    /// Redacts the values of these, and nothing else.
    public init(headerFields: Set<String>, names: Set<String>) {
        self.headerFields = headerFields
        self.names = names
    }

    /// The default: the usual names of secrets (`SecretNames` of LoadingKitForms).
    public static let standard = HARRedaction(headerFields: SecretNames.headerFields, names: SecretNames.values)

    /// Nothing but user and password in URLs. Such a recording is as secret as what was recorded.
    public static let none = HARRedaction(headerFields: [], names: [])

    /// With further names of query items and of fields in bodies.
    public func adding(names: String...) -> HARRedaction {
        var redaction = self
        redaction.names.formUnion(names)
        return redaction
    }

    /// With further header fields.
    public func adding(headerFields: String...) -> HARRedaction {
        var redaction = self
        redaction.headerFields.formUnion(headerFields)
        return redaction
    }

    /// Without these names of query items and of fields in bodies.
    public func keeping(names: String...) -> HARRedaction {
        var redaction = self
        let kept = Set(names.map(Redactor.key))
        redaction.names = redaction.names.filter { !kept.contains(Redactor.key($0)) }
        return redaction
    }

    // MARK: Use

    /// A URL's text without secrets, and without a fragment.
    public func redact(url: String) -> String { Redactor(self).url(url) }

    /// A header field's value without secrets.
    public func redact(field name: String, value: String) -> String { Redactor(self).field(name, value) }

    /// A body without secrets.
    public func redact(body: Data, contentType: String?) -> Data { Data(Redactor(self).body(Array(body), contentType)) }
}
