import Foundation

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
