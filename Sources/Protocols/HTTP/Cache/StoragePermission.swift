import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// Whether a private cache may store a response (RFC 9111 §3).
enum StoragePermission {
    /// Whether a response with this status may be reused without explicit freshness (RFC 9110 §15.1).
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether this cache meets what the status's definition requires of caches (`must-understand`).
    private static func isUnderstood(_ status: Int) -> Bool {
        isHeuristicallyCacheable(status) || status == 302 || status == 303 || status == 307
    }

    /// The reason why a response must not be stored; nil where it may be.
    static func refusal(
        method: String, requestControl: CacheControl, status: Int, fields: HTTPFields, control: CacheControl
    ) -> CacheDecision? {
        guard method == "GET" || method == "HEAD" else { return .notStoredMethod }
        if requestControl.has(.noStore) { return .notStoredNoStore }
        // A 304 only updates a stored response, and a 416 is only about the request's range.
        guard status >= 200, status <= 599, status != 304, status != 416 else { return .notStoredStatus }
        if control.has(.mustUnderstand) {
            // §5.2.2.3: beside `must-understand`, `no-store` is for caches that do not implement the status.
            guard isUnderstood(status) else { return .notStoredStatus }
        } else if control.has(.noStore) {
            return .notStoredNoStore
        }
        if VaryKey.matchesNothing(fields) { return .notStoredVary }
        let isAllowed =
            control.has(.isPublic) || control.has(.isPrivate) || control.maxAge != nil || fields.contains(.expires)
            || isHeuristicallyCacheable(status)
        return isAllowed ? nil : .notStoredNoLifetime
    }

    /// Whether a response to POST may answer later GET and HEAD requests. It needs explicit freshness, and one
    /// `Content-Location`, which is the target (RFC 9110 §9.3.3, §8.7).
    static func mayAnswerGET(
        url: URL, status: Int, fields: HTTPFields, control: CacheControl
    ) -> Bool {
        guard status == 200, control.maxAge != nil || fields.contains(.expires) else { return false }
        guard fields.values(of: .contentLocation).count == 1,
            let content = fields.firstURL(of: .contentLocation, relativeTo: url)
        else { return false }
        return CacheKey(method: "GET", url: content) == CacheKey(method: "GET", url: url)
    }

    /// The fields except those of the connection (RFC 9111 §3.1, RFC 9110 §7.6.1).
    static func storableFields(_ fields: HTTPFields) -> HTTPFields {
        var kept = fields
        kept.remove(names: fields.namesListed(in: .connection))
        for name in KnownField.connectionSpecific + connectionFields where kept.contains(name) { kept.remove(name) }
        return kept
    }

    private static let connectionFields: [KnownField] = [
        .te, .trailer, .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization,
    ]
}

extension HTTPFields {
    /// The largest number of names in `Vary` or `no-cache`. A longer list counts as `*`, or as `no-cache` alone.
    static let maximumListedNames = 100

    /// The names that a field lists, in lowercase.
    func namesListed(in list: KnownField) -> [String] {
        values(of: list).flatMap(Self.names(in:))
    }

    /// The names in the text of a list, in lowercase.
    static func names(in list: String) -> [String] {
        list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
    }
}
