/// A page of a browser, to which entries belong.
public struct HARPage: HARPart, Sendable, Hashable {
    /// The time at which the page started to load.
    public var startedDateTime: HARDate
    /// The identifier by which entries refer to the page.
    public var id: String
    /// The page's title.
    public var title: String
    /// Milliseconds from the page's start to its events.
    public var pageTimings: HARPageTimings
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes a page.
    public init(id: String, title: String, startedDateTime: HARDate) {
        self.id = id
        self.title = title
        self.startedDateTime = startedDateTime
        pageTimings = HARPageTimings()
    }

    static let partName = "page"

    init(_ object: inout HARObject) throws(HARError) {
        startedDateTime = try object.date("startedDateTime") ?? .unknown
        id = try object.string("id") ?? ""
        title = try object.string("title") ?? ""
        pageTimings = try object.object("pageTimings", HARPageTimings.init) ?? HARPageTimings()
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("startedDateTime", startedDateTime)
        members.set("id", id)
        members.set("title", title)
        members.set("pageTimings", pageTimings)
        members.set("comment", comment)
        return members.value
    }
}

/// Milliseconds from a page's start; nil and -1 mean unknown.
public struct HARPageTimings: HARPart, Sendable, Hashable {
    /// The time of `DOMContentLoaded`.
    public var onContentLoad: Double?
    /// The time of `load`.
    public var onLoad: Double?
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes unknown timings.
    public init() {}

    static let partName = "pageTimings"

    init(_ object: inout HARObject) throws(HARError) {
        onContentLoad = try object.number("onContentLoad")
        onLoad = try object.number("onLoad")
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("onContentLoad", onContentLoad)
        members.set("onLoad", onLoad)
        members.set("comment", comment)
        return members.value
    }
}
