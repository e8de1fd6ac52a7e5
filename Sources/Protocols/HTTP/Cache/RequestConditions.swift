import Foundation
import LoadingKitPrimitives

/// Conditional requests: those that a program makes itself, and those that the cache makes to validate (RFC 9111 §4.3).
enum RequestConditions {
    /// What a program's own conditions make of a stored response that might answer.
    enum Outcome: Equatable {
        /// There are none.
        case unconditional
        /// The program has what is stored already: 304.
        case notModified
        /// It has something else: what is stored answers.
        case modified
        /// They are for the server to judge (§4.3.2).
        case forServer
    }

    static func areConditional(_ request: HTTPFields) -> Bool {
        conditionalFields.contains { request.contains($0) }
    }

    /// §4.3.2. `If-None-Match` goes before `If-Modified-Since` (RFC 9110 §13.2.2).
    static func outcome(_ request: HTTPFields, _ stored: StoredResponse, now: Date) -> Outcome {
        if request.contains(.ifMatch) || request.contains(.ifUnmodifiedSince) { return .forServer }
        if let tags = request[.ifNoneMatch] {
            guard let tag = stored.fields[.etag] else { return tags == "*" ? .notModified : .modified }
            let matches = tags == "*" || EntityTag.list(tags).contains { EntityTag.matchWeakly($0, tag) }
            return matches ? .notModified : .modified
        }
        guard request.contains(.ifModifiedSince) else { return .unconditional }
        guard let since = request.date(.ifModifiedSince, now: now), let changed = stored.lastChange(now) else {
            return .modified
        }
        return changed <= since ? .notModified : .modified
    }

    /// What to ask the server with whether a stored response is current (§4.3.1); empty when it cannot be asked so.
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
    /// `Last-Modified`, or where that is missing `Date`, or else when it came (§4.3.2).
    fileprivate func lastChange(_ now: Date) -> Date? {
        fields.date(.lastModified, now: now) ?? fields.date(.date, now: now) ?? metadata.responseTime
    }
}
