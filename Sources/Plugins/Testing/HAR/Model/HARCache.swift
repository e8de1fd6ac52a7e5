/// What a cache had before and after a request.
public struct HARCache: HARPart, Sendable, Hashable {
    /// Before the request; nil where that is not known.
    public var beforeRequest: HARCacheState?
    /// After the request; nil where that is not known.
    public var afterRequest: HARCacheState?
    /// A text for people.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// A cache of which nothing is known.
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
    /// Until when it is fresh, as the file has it.
    public var expires: String?
    /// When it was last used, as the file has it.
    public var lastAccess: String
    /// Its entity tag.
    public var eTag: String
    /// How often it was used.
    public var hitCount: Int
    /// A text for people.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// An entry.
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
