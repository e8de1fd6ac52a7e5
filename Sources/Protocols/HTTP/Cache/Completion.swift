import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// What is stored of a response as the beginning of an answer, whose rest the server is asked for (RFC 9111 §3.3, §3.4).
struct Completion {
    let stored: StoredResponse
    /// What the program asked for, of so many bytes; all of them unless it named a range.
    private let wanted: ContentRange
    private let total: Int64
    private let isWhole: Bool
    /// What is not stored of that.
    private let missing: Range<Int64>
    private let tag: String

    /// Nil where what is stored does not hold the beginning of what is wanted, or where it cannot be told whether both
    /// belong together: a strong tag alone says so.
    init?(_ query: CacheQuery, _ stored: StoredResponse) {
        guard query.method == "GET", !stored.isDecoded, !RequestConditions.areConditional(query.fields),
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

    /// What the server is asked with. Where the representation has changed it sends all of the new one.
    var requestFields: HTTPFields {
        var fields = HTTPFields()
        fields.append(.range, "bytes=\(missing.lowerBound)-\(missing.upperBound - 1)")
        fields.append(.ifRange, tag)
        return fields
    }

    /// What the program gets before that which the server sends.
    var beginning: Data {
        guard let start = stored.metadata.part?.start else { return Data() }
        return stored.data.dropFirst(Int(clamping: wanted.range.lowerBound - start))
    }

    /// The server's part under the fields of both (RFC 9111 §3.4), of which a 206 to `If-Range` brings few; nil when it is
    /// not what was asked for.
    func part(_ response: HTTPURLResponse) -> HTTPURLResponse? {
        guard response.statusCode == 206, !response.fields.contains(.contentEncoding),
            let range = response.fields[.contentRange].flatMap(ContentRange.init), range.range == missing,
            range.total == nil || range.total == total,
            PartialContent.belongTogether(stored.fields, response.fields)
        else { return nil }
        let fields = StoredUpdate.merged(stored.fields, response.fields)
        return response.with(fields: PartialContent.fields(of: fields, ContentRange(missing, total: total)))
    }

    /// What the program is told of, once the server's part is there.
    func answer(_ part: HTTPURLResponse) -> HTTPURLResponse {
        var fields = PartialContent.fields(of: part.fields, wanted)
        if isWhole { fields.remove(.contentRange) }
        return HTTPURLResponse(
            url: part.url ?? URL(fileURLWithPath: "/"), statusCode: isWhole ? 200 : 206, httpVersion: part.httpVersion,
            fields: fields, expectedContentLength: Int64(wanted.range.count))
    }
}
