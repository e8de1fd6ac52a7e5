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

    static var blank: HARPage { HARPage(id: "", title: "", startedDateTime: .unknown) }

    static let members: [HARMember<HARPage>] = [
        .init("startedDateTime", \.startedDateTime), .init("id", \.id), .init("title", \.title),
        .init("pageTimings", \.pageTimings),
    ]
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

    static var blank: HARPageTimings { HARPageTimings() }

    static let members: [HARMember<HARPageTimings>] = [
        .init("onContentLoad", \.onContentLoad), .init("onLoad", \.onLoad),
    ]
}
