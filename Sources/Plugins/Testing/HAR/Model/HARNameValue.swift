/// A header field, or an item of a query.
public struct HARNameValue: HARPart, Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes an item from a name and a value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    static let partName = "header"

    init(_ object: inout HARObject) throws(HARError) {
        name = try object.string("name") ?? ""
        value = try object.string("value") ?? ""
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("name", name)
        members.set("value", value)
        members.set("comment", comment)
        return members.value
    }
}

/// A cookie of a request or a response.
public struct HARCookie: HARPart, Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String
    /// The path of the cookie.
    public var path: String?
    /// The host of the cookie.
    public var domain: String?
    /// The time at which it expires, in the file's form.
    public var expires: String?
    /// Whether scripts may not read it; nil where this is not known.
    public var httpOnly: Bool?
    /// Whether it is for TLS only; nil where this is not known.
    public var secure: Bool?
    /// A text for human readers.
    public var comment: String?
    /// Unknown members, such as browsers' `sameSite`.
    public var others: [String: JSONValue] = [:]

    /// Makes a cookie.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    static let partName = "cookie"

    init(_ object: inout HARObject) throws(HARError) {
        name = try object.string("name") ?? ""
        value = try object.string("value") ?? ""
        path = try object.string("path")
        domain = try object.string("domain")
        expires = try object.string("expires")
        httpOnly = try object.bool("httpOnly")
        secure = try object.bool("secure")
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("name", name)
        members.set("value", value)
        members.set("path", path)
        members.set("domain", domain)
        members.set("expires", expires)
        members.set("httpOnly", httpOnly)
        members.set("secure", secure)
        members.set("comment", comment)
        return members.value
    }
}
