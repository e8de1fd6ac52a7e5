import Foundation
import LoadingKitPrimitives

/// A cookie in the form in which stores keep it: a plain value (RFC 6265bis §5.7, "storage model").
package struct CookieRecord: Hashable, Sendable {
    /// Two cookies with the same identity are the same cookie: the later replaces the earlier. Compared by bytes, as
    /// servers do.
    package struct Identity: Hashable, Sendable {
        package var name: String
        package var domain: String
        package var isHostOnly: Bool
        package var path: String

        package init(name: String, domain: String, isHostOnly: Bool, path: String) {
            self.name = name
            self.domain = domain
            self.isHostOnly = isHostOnly
            self.path = path
        }

        package static func == (one: Identity, other: Identity) -> Bool {
            one.name.hasSameBytes(as: other.name) && one.domain.hasSameBytes(as: other.domain)
                && one.isHostOnly == other.isHostOnly && one.path.hasSameBytes(as: other.path)
        }
    }

    /// The cross-site requests with which a cookie is sent (RFC 6265bis §5.6.7).
    package enum SameSite: String, Hashable, Sendable {
        /// The server sent no `SameSite`; treated as ``lax``.
        case unspecified = ""
        case none, lax, strict
    }

    /// Name, domain without a leading dot, and path.
    package var identity: Identity
    package var value: String
    package var expires: Date?
    package var isSecure = false
    package var isHTTPOnly = false
    package var sameSite = SameSite.unspecified
    /// The time at which a cookie of this identity was first stored; an update keeps it.
    package var creation: Date
    package var stored: Date
    /// Properties of RFC 2965, which only programs set.
    package var legacy: Legacy?

    package init(identity: Identity, value: String, creation: Date) {
        self.identity = identity
        self.value = value
        self.creation = creation
        stored = creation
    }

    /// Properties of RFC 2965, which servers no longer use.
    package struct Legacy: Hashable, Sendable, Codable {
        package var version = 0
        package var comment: String?
        package var commentURL: URL?
        package var ports: [Int]?

        package init() {}
    }
}

extension CookieRecord {
    package var name: String { identity.name }

    /// Whether the cookie expires with the session: it is not stored on disk.
    package var isSessionOnly: Bool { expires == nil }

    package func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether all properties that are visible to a server or a program are the same. The times of storage do not
    /// count.
    func hasSameContent(as other: CookieRecord) -> Bool {
        var other = other
        other.creation = creation
        other.stored = stored
        return value.hasSameBytes(as: other.value) && self == other
    }

    /// The number of octets of name and value together, which is limited (RFC 6265bis §5.6).
    var size: Int { identity.name.utf8.count + value.utf8.count }

    /// Whether the cookie has the properties that the prefix of its name requires, `__Secure-` or `__Host-`
    /// (RFC 6265bis §5.7).
    var isValidForNamePrefix: Bool {
        if name.hasASCIIPrefix("__secure-") { return isSecure }
        if name.hasASCIIPrefix("__host-") { return isSecure && identity.isHostOnly && identity.path == "/" }
        return true
    }
}

extension String {
    /// Whether the string begins with `prefix`, which is in lower case; the string's letters may be in any case.
    func hasASCIIPrefix(_ prefix: String) -> Bool {
        utf8.prefix(prefix.utf8.count).elementsEqual(prefix.utf8) { ASCII.lowercased($0) == $1 }
    }
}

extension CookieRecord {
    /// The cookie that a program's properties describe. Nil when a required property is missing, or has characters that
    /// cannot be sent.
    init?(properties: CookieProperties, now: Date) {
        guard let name = properties.string(.name), let value = properties.string(.value),
            let path = properties.string(.path),
            let domain = properties.string(.domain) ?? properties.url(.originURL).flatMap({ CookieHost.host(of: $0) }),
            let host = CookieHost.canonical(domain.hasPrefix(".") ? String(domain.dropFirst()) : domain)
        else { return nil }
        guard name.isCookieName, value.isCookieText, path.isCookieText else { return nil }
        self.init(
            identity: Identity(
                name: name, domain: host, isHostOnly: !domain.hasPrefix(".") || CookieHost.isAddress(host),
                path: path.isEmpty ? "/" : path),
            value: value, creation: min(properties.moment(.created) ?? now, now))
        stored = now
        expires = Self.end(properties, now)
        isSecure = properties.flag(.secure) ?? false
        isHTTPOnly = properties.flag(.httpOnly) ?? false
        sameSite = .init(attribute: properties.string(.sameSitePolicy) ?? "")
        let legacy = Legacy(properties)
        self.legacy = legacy == Legacy() ? nil : legacy
    }

    /// The time at which the cookie expires; nil for the session's end. As Apple documents the properties, `maximumAge`
    /// applies to cookies of version 1 only, and a cookie with `discard` has no expiry time.
    private static func end(_ properties: CookieProperties, _ now: Date) -> Date? {
        if properties.flag(.discard) == true { return nil }
        let age = properties.isVersion1 ? properties.string(.maximumAge).flatMap { Int($0) } : nil
        return age.map { end(after: $0, from: now) } ?? properties.date(.expires)
    }

    var domainProperty: String { identity.isHostOnly ? identity.domain : "." + identity.domain }

    /// The dictionary from which this cookie can be made again. Flags that are not set are omitted, as on Apple's
    /// systems.
    var properties: [HTTPCookiePropertyKey: Any] {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domainProperty, .path: identity.path,
            .version: String(legacy?.version ?? 0), .created: creation.timeIntervalSinceReferenceDate,
        ]
        properties[.expires] = expires
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[.httpOnly] = "TRUE" }
        if isSessionOnly { properties[.discard] = "TRUE" }
        if sameSite != .unspecified { properties[.sameSitePolicy] = sameSite.rawValue }
        properties[.comment] = legacy?.comment
        properties[.commentURL] = legacy?.commentURL
        properties[.port] = legacy?.ports.map { $0.map(String.init).joined(separator: ",") }
        return properties
    }
}

extension CookieRecord.Legacy {
    init(_ properties: CookieProperties) {
        version = properties.isVersion1 ? 1 : 0
        comment = properties.string(.comment)
        commentURL = properties.url(.commentURL)
        ports = properties.ports(.port)
        // A cookie of version 0 has at most one port.
        if version == 0, let first = ports?.first { ports = [first] }
    }
}

extension String {
    /// Whether the text can be the name of a cookie in a `Cookie` field. By bytes: an equals sign forms one character
    /// with a combining mark behind it.
    package var isCookieName: Bool { !isEmpty && isCookieText && !utf8.contains(UInt8(ascii: "=")) }

    /// Whether the text can be part of a `Cookie` field without ending the cookie or the field.
    package var isCookieText: Bool {
        utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") || $0 == 0x09 }
    }
}
