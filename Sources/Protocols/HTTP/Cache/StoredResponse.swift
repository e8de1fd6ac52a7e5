import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// A stored response as HTTP's rules see it.
struct StoredResponse {
    let cached: CachedURLResponse
    let response: HTTPURLResponse
    let metadata: CacheMetadata
    let control: CacheControl
    /// Whether a program has stored it, which means it for all requests.
    var isPrograms = false

    /// Nil for what is no response of HTTP. One that a program stored counts as received when it was stored.
    init?(_ entry: CacheEntry) {
        guard let response = entry.response.response as? HTTPURLResponse else { return nil }
        let metadata = entry.response.metadata ?? CacheMetadata(requestTime: entry.date, responseTime: entry.date)
        self.init(entry.response, response, metadata)
        isPrograms = entry.response.metadata == nil
    }

    init(_ cached: CachedURLResponse, _ response: HTTPURLResponse, _ metadata: CacheMetadata) {
        self.cached = cached
        self.response = response
        self.metadata = metadata
        control = CacheControl(response.fields)
    }

    var fields: HTTPFields { response.fields }
    var status: Int { response.statusCode }
    var data: Data { cached.data }
    var isWhole: Bool { metadata.part == nil }

    /// Whether the data is not the bytes of the representation, but what they were decoded to; offsets into the one say
    /// nothing of the other.
    var isDecoded: Bool { fields.contains(.contentEncoding) }

    func freshness(now: Date) -> Freshness {
        Freshness(
            status: status, fields: fields, control: control, requestTime: metadata.requestTime,
            responseTime: metadata.responseTime, now: now)
    }

    /// Whether it answers whoever sends no credentials, with whatever fields.
    var isForEverybody: Bool { metadata.owner.isNobody && metadata.selectingFields.isEmpty }

    /// Whether it can be told only by hashing whom it is for.
    var hasSecrets: Bool {
        !metadata.owner.isNobody || metadata.selectingFields.contains { SelectingFields.isSecret($0.name) }
    }

    /// The same with other fields, received at another time.
    func updated(
        fields: HTTPFields, owner: CacheMetadata.Owner, requestTime: Date, responseTime: Date
    ) -> StoredResponse {
        var metadata = metadata
        metadata.owner = owner
        metadata.requestTime = requestTime
        metadata.responseTime = responseTime
        let response = response.with(fields: fields)
        return StoredResponse(cached.with(response: response, metadata: metadata), response, metadata)
    }
}

extension HTTPURLResponse {
    /// The same with other fields, of which the length of the content is not worked out anew.
    func with(fields: HTTPFields) -> HTTPURLResponse { with(fields: fields, url: url ?? URL(fileURLWithPath: "/")) }

    /// The same as it is stored: with other fields, and a URL that names no user.
    func storable(fields: HTTPFields) -> HTTPURLResponse {
        guard let text = url?.absoluteString, text.utf8.contains(UInt8(ascii: "@")),
            let nameless = URL(string: CacheKey.withoutCredentials(text))
        else { return with(fields: fields) }
        return with(fields: fields, url: nameless)
    }

    private func with(fields: HTTPFields, url: URL) -> HTTPURLResponse {
        HTTPURLResponse(
            url: url, statusCode: statusCode, httpVersion: httpVersion, fields: fields,
            expectedContentLength: expectedContentLength)
    }
}

extension CachedURLResponse {
    /// The same content under another head; user info and policy stay.
    func with(response: URLResponse, metadata: CacheMetadata) -> CachedURLResponse {
        CachedURLResponse(
            response: response, data: data, userInfo: userInfo, storagePolicy: storagePolicy, metadata: metadata)
    }
}
