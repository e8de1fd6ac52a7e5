import Foundation
import LoadingKitCore
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A stored part of a response that is the beginning of an answer. The rest is requested from the server (RFC 9111
/// §3.3, §3.4).
final class PartialResponse: Sendable {
    let stored: StoredResponse
    /// The range that the program requested; all, if it requested none.
    private let wanted: ContentRange
    private let total: Int64
    private let isWhole: Bool
    private let missing: Range<Int64>
    private let tag: String

    /// Nil if the stored part does not contain the beginning of the requested range. Also nil without a strong tag:
    /// only a strong tag shows that two parts belong to the same representation.
    init?(_ query: CacheQuery, _ stored: StoredResponse) {
        guard query.method == "GET", !stored.isDecoded, !RequestConditions.isConditional(query.fields),
            let part = stored.metadata.part, let total = part.total, let tag = stored.fields[.etag],
            EntityTag.isStrong(tag)
        else { return nil }
        let range = query.fields[.range]
        guard let wanted = range == nil ? 0..<total : range.flatMap(ByteRange.init)?.resolved(total: total) else {
            return nil
        }
        let (end, overflow) = part.start.addingReportingOverflow(Int64(stored.data.count))
        guard !overflow, wanted.lowerBound >= part.start, wanted.lowerBound < end, end < wanted.upperBound else {
            return nil
        }
        self.stored = stored
        self.total = total
        self.tag = tag
        self.wanted = ContentRange(wanted, total: total)
        isWhole = range == nil
        missing = end..<wanted.upperBound
    }

    /// The fields that request the rest. If the representation has changed, `If-Range` makes the server send all of it.
    var requestFields: HTTPFields {
        var fields = HTTPFields()
        fields.append(.range, "bytes=\(missing.lowerBound)-\(missing.upperBound - 1)")
        fields.append(.ifRange, tag)
        return fields
    }

    /// The program gets these bytes first.
    var beginning: Data {
        guard let start = stored.metadata.part?.start else { return Data() }
        return stored.data.dropFirst(Int(clamping: wanted.range.lowerBound - start))
    }

    /// The server's part with the fields of both responses, as a 206 to `If-Range` has few fields (RFC 9111 §3.4). Nil
    /// if it is not the part that was requested.
    func missingPart(_ response: HTTPURLResponse) -> HTTPURLResponse? {
        guard response.statusCode == 206, !response.fields.contains(.contentEncoding),
            let range = response.fields[.contentRange].flatMap(ContentRange.init), range.range == missing,
            range.total == nil || range.total == total,
            PartialContent.isSameRepresentation(stored.fields, response.fields)
        else { return nil }
        let fields = StoredUpdate.merged(stored.fields, response.fields)
        return response.with(fields: PartialContent.fields(of: fields, ContentRange(missing, total: total)))
    }

    /// The failure where the server's part has another number of bytes than was requested: a body need not have the
    /// length of the range in its head.
    func failure(receiving count: Int64) -> LoadFailure? {
        let expected = Int64(missing.count)
        if count == expected { return nil }
        let code = count < expected ? URLError.Code.networkConnectionLost : .badServerResponse
        return LoadFailure(code, "the rest of the stored response has \(count) bytes instead of \(expected)")
    }

    func completeHead(_ part: HTTPURLResponse) -> HTTPURLResponse {
        var fields = PartialContent.fields(of: part.fields, wanted)
        if isWhole { fields.remove(.contentRange) }
        return HTTPURLResponse(
            url: part.url ?? URL(fileURLWithPath: "/"), statusCode: isWhole ? 200 : 206, httpVersion: part.httpVersion,
            fields: fields, expectedContentLength: Int64(wanted.range.count))
    }
}

/// Answers range requests from stored responses, and joins parts (RFC 9111 §3.3, §3.4).
enum PartialContent {
    enum Answer: Equatable {
        case part(Range<Int>, ContentRange)
        /// The whole response. The range is ignored, as the program has parts of another representation (`If-Range`).
        case whole
    }

    /// Nil if the request has to go to the server.
    static func answer(_ request: HTTPFields, _ stored: StoredResponse, now: Date) -> Answer? {
        guard !stored.isDecoded, stored.status == 200 || stored.status == 206, let field = request[.range] else {
            return nil
        }
        if let condition = request[.ifRange], !isCurrent(condition, stored, now) {
            return stored.isWhole ? .whole : nil
        }
        let part = stored.metadata.part
        guard let range = ByteRange(field), let total = part.map(\.total) ?? Int64(stored.data.count),
            let wanted = range.resolved(total: total), !wanted.isEmpty
        else { return nil }
        let start = part?.start ?? 0
        let (end, overflow) = start.addingReportingOverflow(Int64(stored.data.count))
        guard !overflow, wanted.lowerBound >= start, wanted.upperBound <= end else { return nil }
        return .part(
            Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start), ContentRange(wanted, total: total))
    }

    /// Whether the condition matches (RFC 9110 §13.1.5): by a strong tag, or by exactly the same `Last-Modified` date.
    private static func isCurrent(_ condition: String, _ stored: StoredResponse, _ now: Date) -> Bool {
        if condition.contains("\"") {
            return stored.fields[.etag].map { EntityTag.isStrongMatch($0, condition) } ?? false
        }
        return HTTPDate.parse(condition, now: now.timeIntervalSince1970) != nil
            && stored.fields[.lastModified] == condition
    }

    /// The fields of a 206 for a range of a stored response.
    static func fields(of stored: HTTPFields, _ range: ContentRange) -> HTTPFields {
        var fields = stored
        fields.set(.contentRange, range.string)
        fields.set(.contentLength, String(range.range.count))
        return fields
    }

    /// Whether two parts are of the same representation: both have the same strong validator (§3.4).
    static func isSameRepresentation(_ a: HTTPFields, _ b: HTTPFields) -> Bool {
        guard let a = a[.etag], let b = b[.etag] else { return false }
        return EntityTag.isStrongMatch(a, b)
    }

    /// Joins two parts. Nil if bytes between them are missing.
    static func joined(
        _ a: (start: Int64, data: Data), _ b: (start: Int64, data: Data)
    ) -> (start: Int64, data: Data)? {
        let (first, second) = a.start <= b.start ? (a, b) : (b, a)
        let gap = second.start - first.start
        guard gap <= Int64(first.data.count) else { return nil }
        let overlap = Int64(first.data.count) - gap
        guard overlap < Int64(second.data.count) else { return first }
        return (first.start, first.data + second.data.dropFirst(Int(overlap)))
    }
}
