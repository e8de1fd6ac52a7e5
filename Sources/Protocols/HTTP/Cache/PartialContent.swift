import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// Range requests answered from what is stored, and parts put together (RFC 9111 §3.3, §3.4).
enum PartialContent {
    /// What a stored response answers to a range request.
    enum Answer: Equatable {
        /// This range of the stored data, as a part of so many bytes.
        case part(Range<Int>, ContentRange)
        /// The whole: the range is of no concern, as the program holds parts of something else (`If-Range`).
        case whole
    }

    /// Nil when the server has to be asked.
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

    /// RFC 9110 §13.1.5: a strong tag, or the very date of the last change.
    private static func isCurrent(_ condition: String, _ stored: StoredResponse, _ now: Date) -> Bool {
        if condition.contains("\"") {
            return stored.fields[.etag].map { EntityTag.matchStrongly($0, condition) } ?? false
        }
        return HTTPDate.parse(condition, now: now) != nil && stored.fields[.lastModified] == condition
    }

    /// The fields of a 206 for a range of a stored response.
    static func fields(of stored: HTTPFields, _ range: ContentRange) -> HTTPFields {
        var fields = stored
        fields.set(.contentRange, range.string)
        fields.set(.contentLength, String(range.range.count))
        return fields
    }

    /// Whether two parts belong to the same representation: both have the same strong validator (§3.4).
    static func belongTogether(_ a: HTTPFields, _ b: HTTPFields) -> Bool {
        guard let a = a[.etag], let b = b[.etag] else { return false }
        return EntityTag.matchStrongly(a, b)
    }

    /// Two parts as one; nil when bytes are missing between them.
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
