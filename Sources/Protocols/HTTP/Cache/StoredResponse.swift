import Foundation
import LoadingKitCore
import LoadingKitPrimitives

struct StoredResponse {
    let cached: CachedURLResponse
    let response: HTTPURLResponse
    let metadata: CacheMetadata
    let control: CacheControl
    /// Such a response may answer every request.
    var isFromProgram = false

    /// Nil for another protocol's response. One that the program stored counts as received then.
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

    /// Offsets in decoded data are not offsets in the representation.
    var isDecoded: Bool { fields.contains(.contentEncoding) }

    func freshness(now: Date) -> Freshness {
        Freshness(
            status: status, fields: fields, control: control, requestTime: metadata.requestTime,
            responseTime: metadata.responseTime, now: now)
    }

    /// Whether the response may answer every request without credentials, whatever the request's fields.
    var isForEverybody: Bool { metadata.owner.isNobody && metadata.varyKey.isEmpty }

    /// Whether the hash is needed to find the requests that the response may answer.
    var hasSecrets: Bool { !metadata.owner.isNobody || metadata.varyKey.contains { VaryKey.isSecret($0.name) } }

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
    func with(fields: HTTPFields) -> HTTPURLResponse { with(fields: fields, url: url ?? URL(fileURLWithPath: "/")) }

    /// The response as it is stored: without user and password in the URL.
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
    func with(response: URLResponse, metadata: CacheMetadata) -> CachedURLResponse {
        CachedURLResponse(
            response: response, data: data, userInfo: userInfo, storagePolicy: storagePolicy, metadata: metadata)
    }
}
