/// The state of a cache before and after a request.
public struct HARCache: HARPart, Sendable, Hashable {
    /// The state before the request; nil where it is not known.
    public var beforeRequest: HARCacheState?
    /// The state after the request; nil where it is not known.
    public var afterRequest: HARCacheState?
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes a cache with unknown states.
    public init() {}

    static var blank: HARCache { HARCache() }

    static let members: [HARMember<HARCache>] = [
        .init("beforeRequest", \.beforeRequest), .init("afterRequest", \.afterRequest),
    ]
}

/// A cache's entry.
public struct HARCacheState: HARPart, Sendable, Hashable {
    /// The time until which it is fresh, in the file's form.
    public var expires: String?
    /// The time of its last use, in the file's form.
    public var lastAccess: String
    /// Its entity tag.
    public var eTag: String
    /// The number of its uses.
    public var hitCount: Int
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes an entry.
    public init(lastAccess: String, eTag: String, hitCount: Int) {
        self.lastAccess = lastAccess
        self.eTag = eTag
        self.hitCount = hitCount
    }

    static var blank: HARCacheState { HARCacheState(lastAccess: "", eTag: "", hitCount: 0) }

    static let members: [HARMember<HARCacheState>] = [
        .init("expires", \.expires), .init("lastAccess", \.lastAccess), .init("eTag", \.eTag),
        .init("hitCount", \.hitCount),
    ]
}
