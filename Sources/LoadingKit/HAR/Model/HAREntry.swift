/// A request and its response.
public struct HAREntry: HARPart, Sendable, Hashable {
    /// The page to which it belongs.
    public var pageref: String?
    /// The time at which the request was started.
    public var startedDateTime: HARDate
    /// The total in milliseconds: the sum of the known timings, without `ssl`, which is part of `connect`.
    public var time: Double
    /// The request.
    public var request: HARRequest
    /// The response. For a load that failed before its response it has status 0.
    public var response: HARResponse
    /// The state of a cache.
    public var cache: HARCache
    /// The timings of the entry.
    public var timings: HARTimings
    /// The address of the server, or of the proxy.
    public var serverIPAddress: String?
    /// The identifier of the connection: the client's port. Entries with the same one have shared a connection.
    public var connection: String?
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes an entry.
    public init(
        startedDateTime: HARDate, request: HARRequest, response: HARResponse, timings: HARTimings = HARTimings()
    ) {
        self.startedDateTime = startedDateTime
        self.request = request
        self.response = response
        self.timings = timings
        time = timings.total
        cache = HARCache()
    }

    static var blank: HAREntry { HAREntry(startedDateTime: .unknown, request: .blank, response: .blank) }

    static let members: [HARMember<HAREntry>] = [
        .init("pageref", \.pageref), .init("startedDateTime", \.startedDateTime),
        .init("request", \.request, isRequired: true), .init("response", \.response, isRequired: true),
        .init("cache", \.cache), .init("timings", \.timings), .init("time", \.time, missing: { $0.timings.total }),
        .init("serverIPAddress", \.serverIPAddress), .init("connection", \.connection),
    ]
}

/// The timings of an entry, in milliseconds; -1 where a timing is not known or does not apply.
public struct HARTimings: HARPart, Sendable, Hashable {
    /// The wait for a connection.
    public var blocked = -1.0
    /// The lookup of the name.
    public var dns = -1.0
    /// The establishment of the connection, including TLS.
    public var connect = -1.0
    /// The sending of the request. At least 0.
    public var send = 0.0
    /// The wait for the response. At least 0.
    public var wait = 0.0
    /// The reception of the response. At least 0.
    public var receive = 0.0
    /// The TLS handshake.
    public var ssl = -1.0
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes unknown timings.
    public init() {}

    /// The sum of the known timings, without ``ssl``.
    public var total: Double { [blocked, dns, connect, send, wait, receive].filter { $0 > 0 }.reduce(0, +) }

    static var blank: HARTimings { HARTimings() }

    static let members: [HARMember<HARTimings>] = [
        .init("blocked", \.blocked), .init("dns", \.dns), .init("connect", \.connect), .init("send", \.send),
        .init("wait", \.wait), .init("receive", \.receive), .init("ssl", \.ssl),
    ]
}

extension HAREntry {
    /// The entry as it is written.
    package var value: JSONValue { json ?? .null }
}
