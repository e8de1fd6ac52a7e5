import Foundation
import LoadingKitPrimitives

/// A cookie as stores keep it: a plain value (RFC 6265bis §5.7, "storage model").
package struct CookieRecord: Hashable, Sendable {
    /// Two cookies with the same identity are the same cookie: the later replaces the earlier.
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
    }

    /// Which requests of other sites a cookie goes with (RFC 6265bis §5.6.7).
    package enum SameSite: String, Hashable, Sendable {
        /// The server did not say; treated as ``lax``.
        case unspecified = ""
        case none, lax, strict
    }

    /// Name, domain without a dot before it, and path.
    package var identity: Identity
    package var value: String
    package var expires: Date?
    package var isSecure = false
    package var isHTTPOnly = false
    package var sameSite = SameSite.unspecified
    /// When a cookie of this identity was first stored; an update keeps it.
    package var creation: Date
    /// When this value was stored.
    package var stored: Date
    /// Properties of RFC 2965, which only a program sets.
    package var legacy: Legacy?

    package init(identity: Identity, value: String, creation: Date) {
        self.identity = identity
        self.value = value
        self.creation = creation
        stored = creation
    }

    /// Properties of RFC 2965, which servers do not use any longer.
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

    /// Whether the cookie ends with the session: no store keeps it on disk.
    package var isSessionOnly: Bool { expires == nil }

    package func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether all properties that a server or a program can see are the same. The times of storage do not count.
    func hasSameContent(as other: CookieRecord) -> Bool {
        var other = other
        other.creation = creation
        other.stored = stored
        return self == other
    }

    /// Octets of name and value together, for which there is a limit (RFC 6265bis §5.6).
    var size: Int { identity.name.utf8.count + value.utf8.count }

    /// Whether the cookie has the properties that the prefix of its name requires, `__Secure-` or `__Host-` (RFC
    /// 6265bis §5.7).
    var isValidForNamePrefix: Bool {
        if name.hasASCIIPrefix("__secure-") { return isSecure }
        if name.hasASCIIPrefix("__host-") { return isSecure && identity.isHostOnly && identity.path == "/" }
        return true
    }
}

extension String {
    /// Whether the string begins with `prefix`, which is in lower case, whatever the case of the string's letters.
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
        guard !name.isEmpty, !name.contains("="), [name, value, path].allSatisfy(\.isCookieText) else { return nil }
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

    /// When the cookie ends; nil for the session's end. As Apple documents the properties, `maximumAge` counts for
    /// cookies of version 1 alone, and a cookie with `discard` has no end of its own.
    private static func end(_ properties: CookieProperties, _ now: Date) -> Date? {
        if properties.flag(.discard) == true { return nil }
        let age = properties.isVersion1 ? properties.string(.maximumAge).flatMap { Int($0) } : nil
        return age.map { end(after: $0, from: now) } ?? properties.date(.expires)
    }

    /// The domain as programs see it.
    var domainProperty: String { identity.isHostOnly ? identity.domain : "." + identity.domain }

    /// The dictionary that makes this cookie again. Flags that are not set are left out, as Apple's systems do.
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
        // A cookie of version 0 has one port at most.
        if version == 0, let first = ports?.first { ports = [first] }
    }
}

extension String {
    /// Whether the text can be part of a `Cookie` field without ending there.
    package var isCookieText: Bool {
        utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") || $0 == 0x09 }
    }
}
