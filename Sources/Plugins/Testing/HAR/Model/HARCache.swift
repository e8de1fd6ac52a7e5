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

    static let partName = "cache"

    init(_ object: inout HARObject) throws(HARError) {
        beforeRequest = try object.object("beforeRequest", HARCacheState.init)
        afterRequest = try object.object("afterRequest", HARCacheState.init)
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("beforeRequest", beforeRequest)
        members.set("afterRequest", afterRequest)
        members.set("comment", comment)
        return members.value
    }
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

    static let partName = "cacheState"

    init(_ object: inout HARObject) throws(HARError) {
        expires = try object.string("expires")
        lastAccess = try object.string("lastAccess") ?? ""
        eTag = try object.string("eTag") ?? ""
        hitCount = try object.integer("hitCount") ?? 0
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("expires", expires)
        members.set("lastAccess", lastAccess)
        members.set("eTag", eTag)
        members.set("hitCount", hitCount)
        members.set("comment", comment)
        return members.value
    }
}
