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

    static var blank: HARNameValue { HARNameValue(name: "", value: "") }

    static let members: [HARMember<HARNameValue>] = [
        .init("name", \.name), .init("value", \.value),
    ]
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

    static var blank: HARCookie { HARCookie(name: "", value: "") }

    static let members: [HARMember<HARCookie>] = [
        .init("name", \.name), .init("value", \.value), .init("path", \.path), .init("domain", \.domain),
        .init("expires", \.expires), .init("httpOnly", \.httpOnly), .init("secure", \.secure),
    ]
}
