import Foundation
import LoadingKit

/// The properties of a program's request besides the URL: the method, a range, and conditions (RFC 9110 §13 and §14).
struct MemberRequest: Sendable, Equatable {
    var isHead = false
    var range: String?
    var ifRange: String?
    var ifNoneMatch: String?
    var ifModifiedSince: String?

    /// The kind of response.
    enum Answer: Equatable {
        case whole
        case part(Range<Int64>)
        /// 304
        case notModified
        /// 416
        case unsatisfiable
    }

    init(_ request: URLRequest) throws(ArchiveError) {
        let method = request.httpMethod ?? "GET"
        guard method == "GET" || method == "HEAD" else { throw .unsupportedMethod(method) }
        isHead = method == "HEAD"
        range = request.value(forHTTPHeaderField: "Range")
        ifRange = request.value(forHTTPHeaderField: "If-Range")
        ifNoneMatch = request.value(forHTTPHeaderField: "If-None-Match")
        ifModifiedSince = request.value(forHTTPHeaderField: "If-Modified-Since")
    }

    /// The answer for a member of this size. A date is compared as text: clients send the date of an earlier response.
    func answer(size: Int64, entityTag: String, lastModified: String?) -> Answer {
        if let ifNoneMatch {
            let tags = ifNoneMatch.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            if tags.contains("*") || tags.contains(entityTag) || tags.contains("W/\(entityTag)") { return .notModified }
        } else if let ifModifiedSince, ifModifiedSince == lastModified {
            return .notModified
        }
        guard let range, !isHead, ifRange.map({ $0 == entityTag || $0 == lastModified }) ?? true else { return .whole }
        return Self.resolve(range, size)
    }

    /// Several ranges, and values that are not byte ranges, get the whole member, as RFC 9110 §14.2 permits; a suffix
    /// of an empty member does, too.
    private static func resolve(_ field: String, _ size: Int64) -> Answer {
        guard let wanted = URLRequest.ByteRange(field) else { return .whole }
        guard let part = wanted.resolved(total: size) else { return .unsatisfiable }
        return part.isEmpty ? .whole : .part(part)
    }
}
