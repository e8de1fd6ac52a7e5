import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// The answer of a stored response to a request: the whole response, a part, the head only, or a 304.
struct StoredAnswer {
    let stored: StoredResponse
    let response: HTTPURLResponse
    let data: Data

    /// Nil if the stored response cannot answer this request, however fresh it is.
    ///
    /// - Parameter isValidated: whether the server has just validated the response.
    init?(_ stored: StoredResponse, to query: CacheQuery, now: Date, isValidated: Bool) {
        switch RequestConditions.outcome(query.fields, stored, now: now) {
        case .forServer: return nil
        case .notModified:
            self.init(stored, query.url, 304, Self.withoutContent(stored.fields), Data(), now, isValidated)
            return
        case .modified, .unconditional: break
        }
        let isHead = query.method == "HEAD"
        switch isHead ? nil : PartialContent.answer(query.fields, stored, now: now) {
        case .part(let range, let content):
            let fields = PartialContent.fields(of: stored.fields, content)
            let data = stored.data.part(range)
            self.init(stored, query.url, 206, fields, data, now, isValidated)
        case .whole:
            self.init(whole: stored, query.url, stored.data, now, isValidated)
        case nil:
            guard stored.isWhole, isHead || !query.fields.contains(.range) else { return nil }
            let data = isHead ? Data() : stored.data
            self.init(whole: stored, query.url, data, now, isValidated)
        }
    }

    private init(whole stored: StoredResponse, _ url: URL, _ data: Data, _ now: Date, _ isValidated: Bool) {
        self.init(
            stored, url, stored.status, stored.fields, data, now, isValidated,
            length: stored.response.expectedContentLength)
    }

    /// - Parameter length: the length that the response states, where it is not that of the data.
    private init(
        _ stored: StoredResponse, _ url: URL, _ status: Int, _ fields: HTTPFields, _ data: Data, _ now: Date,
        _ isValidated: Bool, length: Int64? = nil
    ) {
        var fields = fields
        if !isValidated {
            // RFC 9111 §5.2.2.4: fields that `no-cache` names are not reused without validation.
            fields.remove(names: stored.control.noCacheFields)
            fields.set(.age, DeltaSeconds.string(stored.freshness(now: now).age))  // §5.1
        }
        self.stored = stored
        self.data = data
        response = HTTPURLResponse(
            url: url, statusCode: status, httpVersion: stored.response.httpVersion, fields: fields,
            expectedContentLength: length ?? Int64(data.count))
    }

    /// The fields without those of the content. A 304 has only those of them that caches need (RFC 9110 §15.4.5).
    private static func withoutContent(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        for name in [KnownField.contentLength, .contentType, .contentEncoding, .contentLanguage, .contentRange] {
            fields.remove(name)
        }
        return fields
    }
}

extension Data {
    fileprivate func part(_ range: Range<Int>) -> Data { dropFirst(range.lowerBound).prefix(range.count) }
}
