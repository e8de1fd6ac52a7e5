import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// A class, because a structure of this size costs more to pass on than to allocate.
final class StoredResponse: Sendable {
    /// The same for each object that the response is read into.
    struct Identity: Hashable {
        let key: CacheKey?
        let variant: CacheMetadata.Variant
    }

    let cached: CachedURLResponse
    let response: HTTPURLResponse
    /// The method of the requests under which it is stored. A response to GET also answers HEAD.
    let method: String
    private let facts: StoredFacts

    /// Nil for another protocol's response. One that the program stored counts as received then.
    init?(_ entry: CacheEntry, method: String) {
        guard let response = entry.response.parts.response as? HTTPURLResponse else { return nil }
        cached = entry.response
        self.response = response
        self.method = method
        facts = StoredFacts.of(entry.response, response, date: entry.date)
    }

    init(
        _ cached: CachedURLResponse, _ response: HTTPURLResponse, _ metadata: CacheMetadata, method: String = "GET"
    ) {
        self.cached = cached
        self.response = response
        self.method = method
        facts = StoredFacts(response, metadata)
    }

    /// Whether the program stored the response itself. Such a response may answer every request.
    var isFromProgram: Bool { cached.metadata == nil }

    var identity: Identity {
        Identity(key: response.url.map { CacheKey(method: method, url: $0) }, variant: metadata.variant)
    }

    var metadata: CacheMetadata { facts.metadata }
    var control: CacheControl { facts.control }
    var fields: HTTPFields { response.fields }
    var status: Int { response.statusCode }
    var data: Data { cached.parts.data }
    var isWhole: Bool { metadata.part == nil }

    /// Offsets in decoded data are not offsets in the representation.
    var isDecoded: Bool { fields.contains(.contentEncoding) }

    /// The age of a response that was received long after now is unknown, as the clock was wrong then. It counts as
    /// infinite: the response is validated unless a response of any age will do.
    func freshness(now: Date) -> Freshness {
        let atReceipt = facts.freshnessAtReceipt
        let since = now.timeIntervalSince(facts.metadata.responseTime)
        let age = since < -Self.largestStepBack ? .infinity : atReceipt.age + max(0, since)
        return Freshness(lifetime: atReceipt.lifetime, age: age)
    }

    /// The largest step by which a clock is set back that has no effect on the responses received before, in seconds.
    private static let largestStepBack: TimeInterval = 86_400

    /// Whether the response may answer every request without credentials, whatever the request's fields.
    var isForEverybody: Bool { metadata.owner.isNobody && metadata.varyKey.isEmpty }

    /// Whether the hash is needed to find the requests that the response may answer.
    var hasSecrets: Bool { !metadata.owner.isNobody || metadata.varyKey.contains { VaryKey.isSecret($0.name) } }

    func updated(
        fields: HTTPFields, varyKey: [CacheMetadata.VaryField], owner: CacheMetadata.Owner, requestTime: Date,
        responseTime: Date
    ) -> StoredResponse {
        var metadata = metadata
        metadata.varyKey = varyKey
        metadata.owner = owner
        metadata.requestTime = requestTime
        metadata.responseTime = responseTime
        let response = response.with(fields: fields)
        return StoredResponse(
            cached.with(response: response, metadata: metadata), response, metadata, method: method)
    }
}

/// The data by which the rules decide about a stored response. They are read from its fields once.
private final class StoredFacts: Sendable {
    let metadata: CacheMetadata
    let control: CacheControl
    let freshnessAtReceipt: Freshness

    init(_ response: HTTPURLResponse, _ metadata: CacheMetadata) {
        self.metadata = metadata
        control = CacheControl(response.fields)
        freshnessAtReceipt = Freshness(
            status: response.statusCode, fields: response.fields, control: control, requestTime: metadata.requestTime,
            responseTime: metadata.responseTime, now: metadata.responseTime)
    }

    /// - Parameter date: when the response was stored. It counts for a response that the program stored, which may be
    ///   stored again at another time.
    static func of(_ cached: CachedURLResponse, _ response: HTTPURLResponse, date: Date) -> StoredFacts {
        guard let metadata = cached.metadata else {
            return StoredFacts(response, CacheMetadata(requestTime: date, responseTime: date))
        }
        if let known = cached.facts as? StoredFacts { return known }
        let made = StoredFacts(response, metadata)
        cached.keep(facts: made)
        return made
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
            response: response, data: parts.data, userInfo: parts.userInfo, storagePolicy: parts.storagePolicy,
            metadata: metadata)
    }
}
