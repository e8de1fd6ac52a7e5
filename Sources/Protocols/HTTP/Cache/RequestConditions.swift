import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// Conditional requests: the program's own, and those with which the cache validates (RFC 9111 §4.3).
enum RequestConditions {
    enum Outcome: Equatable {
        case unconditional
        /// The program has the stored representation already. The answer is 304.
        case notModified
        /// The program has another representation. The answer is the stored response.
        case modified
        /// The server has to evaluate the conditions (§4.3.2).
        case forServer
    }

    static func isConditional(_ request: HTTPFields) -> Bool { conditionalFields.contains { request.contains($0) } }

    /// The request without the program's own conditions.
    static func withoutConditions(_ request: URLRequest) -> URLRequest {
        guard isConditional(request.fields) else { return request }
        var request = request
        for name in conditionalFields { request.fields.remove(name) }
        return request
    }

    /// Evaluates the conditions (§4.3.2). `If-None-Match` has precedence over `If-Modified-Since` (RFC 9110 §13.2.2).
    static func outcome(_ request: HTTPFields, _ stored: StoredResponse, now: Date) -> Outcome {
        if request.contains(.ifMatch) || request.contains(.ifUnmodifiedSince) { return .forServer }
        // Conditions do not apply to redirects and errors (RFC 9110 §13.2.1).
        guard (200..<300).contains(stored.status) else { return .unconditional }
        if let tags = request[.ifNoneMatch] {
            guard let tag = stored.fields[.etag] else { return tags == "*" ? .notModified : .modified }
            let matches = tags == "*" || EntityTag.list(tags).contains { EntityTag.isWeakMatch($0, tag) }
            return matches ? .notModified : .modified
        }
        guard request.contains(.ifModifiedSince) else { return .unconditional }
        guard let since = request.date(.ifModifiedSince, now: now), let changed = stored.lastChange(now) else {
            return .modified
        }
        return changed <= since ? .notModified : .modified
    }

    /// Empty if the response has no validator (§4.3.1).
    static func validators(of stored: StoredResponse) -> HTTPFields {
        var fields = HTTPFields()
        if let tag = stored.fields[.etag] { fields.append(.ifNoneMatch, tag) }
        if let modified = stored.fields[.lastModified] { fields.append(.ifModifiedSince, modified) }
        return fields
    }

    private static let conditionalFields: [KnownField] = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
    ]
}

extension StoredResponse {
    /// `Last-Modified`, else `Date`, else the time of receipt (§4.3.2).
    fileprivate func lastChange(_ now: Date) -> Date? {
        fields.date(.lastModified, now: now) ?? fields.date(.date, now: now) ?? metadata.responseTime
    }
}

/// Entity tags, in the form in which fields contain them (RFC 9110 §8.8.3).
enum EntityTag {
    static func isStrong(_ tag: String) -> Bool { !tag.hasPrefix("W/") && !tag.isEmpty }

    /// Whether the octets are the same, and neither tag is weak (RFC 9110 §8.8.3.2).
    static func isStrongMatch(_ a: String, _ b: String) -> Bool { isStrong(a) && a == b }

    /// Whether the octets are the same. Each tag may be weak (RFC 9110 §8.8.3.2).
    static func isWeakMatch(_ a: String, _ b: String) -> Bool { opaque(a) == opaque(b) }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// The tags of `If-None-Match`. Commas within quotes are part of a tag.
    static func list(_ value: String) -> [String] {
        var tags: [String] = []
        var tag = ""
        var isQuoted = false
        for scalar in value.unicodeScalars {
            if scalar == "\"" { isQuoted.toggle() }
            if scalar == ",", !isQuoted {
                tags.append(tag)
                tag = ""
            } else if isQuoted || (scalar != " " && scalar != "\t") {
                tag.unicodeScalars.append(scalar)
            }
        }
        return (tags + [tag]).filter { !$0.isEmpty }
    }
}
