import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// The parts that a recording must not contain: the values of header fields, of query items, and of fields in JSON and
/// form bodies, by their names. They are replaced by ``marker``, which matches any value when the recording is
/// replayed.
///
/// Names of query items and of fields in bodies are compared regardless of case, `-` and `_`: `accessToken` equals
/// `access_token`. Of a name such as `user[password]` each part is compared, too. User and password in a URL are always
/// redacted. Other kinds of bodies, such as plain text, are not changed. Where ``names`` is not empty, bodies in
/// content codings (`Content-Encoding`) that LoadingKit has not decoded are not recorded.
public struct HARRedaction: Sendable, Hashable {
    /// The replacement of a value in a recording: `(redacted)`.
    public static let marker = "(redacted)"

    /// Names of header fields. In `Cookie` and `Set-Cookie` only the cookies' values are redacted, in `Authorization`
    /// and `Proxy-Authorization` the text after the scheme. `Location`, `Content-Location`, `Referer`, and the URLs of
    /// `Refresh` and `Link`, are redacted as URLs where the fields are not named here. Where `Location` is, so are the
    /// URLs and the `Host` of the requests after a redirect, the words of their errors, and the server's address,
    /// `Content-Location` and cookies' domains of their responses.
    public var headerFields: Set<String>
    /// Names of query items, of fields of forms, and of members of JSON objects.
    public var names: Set<String>
    /// Names of cookies whose values are not redacted. Default none.
    public var openCookies: Set<String> = []

    /// Makes a redaction for these names only.
    public init(headerFields: Set<String>, names: Set<String>) {
        self.headerFields = headerFields
        self.names = names
    }

    /// The default: the usual names of secrets of `SecretNames` in LoadingKitForms.
    public static let standard = HARRedaction(headerFields: UsualSecrets.headerFields, names: UsualSecrets.values)

    /// Only user and password in URLs. Such a recording is as secret as the recorded traffic.
    public static let none = HARRedaction(headerFields: [], names: [])

    /// The same redaction with further names of query items and of fields in bodies.
    public func adding(names: String...) -> HARRedaction {
        var redaction = self
        redaction.names.formUnion(names)
        return redaction
    }

    /// The same redaction with further header fields.
    public func adding(headerFields: String...) -> HARRedaction {
        var redaction = self
        redaction.headerFields.formUnion(headerFields)
        return redaction
    }

    /// The same redaction without these names of query items and of fields in bodies.
    public func keeping(names: String...) -> HARRedaction {
        var redaction = self
        let kept = Set(names.map(SecretNameSet.key))
        redaction.names = redaction.names.filter { !kept.contains(SecretNameSet.key($0)) }
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
