import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// A stored response, with the values that HTTP's caching rules use.
struct StoredResponse {
    let cached: CachedURLResponse
    let response: HTTPURLResponse
    let metadata: CacheMetadata
    let control: CacheControl
    /// Whether the program stored the response. Such a response may answer every request.
    var isFromProgram = false

    /// Nil for a response of another protocol. A response that the program stored counts as received when it was
    /// stored.
    init?(_ entry: CacheEntry) {
        guard let response = entry.response.response as? HTTPURLResponse else { return nil }
        let metadata = entry.response.metadata ?? CacheMetadata(requestTime: entry.date, responseTime: entry.date)
        self.init(entry.response, response, metadata)
        isFromProgram = entry.response.metadata == nil
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

    /// Whether the data is decoded. Offsets in decoded data are not offsets in the representation.
    var isDecoded: Bool { fields.contains(.contentEncoding) }

    func freshness(now: Date) -> Freshness {
        Freshness(
            status: status, fields: fields, control: control, requestTime: metadata.requestTime,
            responseTime: metadata.responseTime, now: now)
    }

    /// Whether the response may answer every request without credentials, whatever the request's fields.
    var isForEverybody: Bool { metadata.owner.isNobody && metadata.varyKey.isEmpty }

    /// Whether the hash is needed to determine the requests that the response may answer.
    var hasSecrets: Bool {
        !metadata.owner.isNobody || metadata.varyKey.contains { VaryKey.isSecret($0.name) }
    }

    /// The response with other fields, received at another time.
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
    /// The response with other fields. The expected length of the content is unchanged.
    func with(fields: HTTPFields) -> HTTPURLResponse { with(fields: fields, url: url ?? URL(fileURLWithPath: "/")) }

    /// The response in the form in which it is stored: with other fields, and without user and password in the URL.
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
    /// The same content with another head. The user info and the policy are unchanged.
    func with(response: URLResponse, metadata: CacheMetadata) -> CachedURLResponse {
        CachedURLResponse(
            response: response, data: data, userInfo: userInfo, storagePolicy: storagePolicy, metadata: metadata)
    }
}
