import Foundation

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
    /// The port of the server, or of the proxy, which browsers display: the specification also permits the client's
    /// port.
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

    static let partName = "entry"

    init(_ object: inout HARObject) throws(HARError) {
        pageref = try object.string("pageref")
        startedDateTime = try object.date("startedDateTime") ?? .unknown
        request = try object.requiredObject("request", HARRequest.init)
        response = try object.requiredObject("response", HARResponse.init)
        cache = try object.object("cache", HARCache.init) ?? HARCache()
        timings = try object.object("timings", HARTimings.init) ?? HARTimings()
        time = try object.number("time") ?? timings.total
        serverIPAddress = try object.string("serverIPAddress")
        connection = try object.string("connection")
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("pageref", pageref)
        members.set("startedDateTime", startedDateTime)
        members.set("time", time)
        members.set("request", request)
        members.set("response", response)
        members.set("cache", cache)
        members.set("timings", timings)
        members.set("serverIPAddress", serverIPAddress)
        members.set("connection", connection)
        members.set("comment", comment)
        return members.value
    }
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

    static let partName = "timings"

    init(_ object: inout HARObject) throws(HARError) {
        blocked = try object.number("blocked") ?? -1
        dns = try object.number("dns") ?? -1
        connect = try object.number("connect") ?? -1
        send = try object.number("send") ?? 0
        wait = try object.number("wait") ?? 0
        receive = try object.number("receive") ?? 0
        ssl = try object.number("ssl") ?? -1
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("blocked", blocked)
        members.set("dns", dns)
        members.set("connect", connect)
        members.set("send", send)
        members.set("wait", wait)
        members.set("receive", receive)
        members.set("ssl", ssl)
        members.set("comment", comment)
        return members.value
    }
}

extension HARDate {
    /// Replaces a missing date: 1970.
    static let unknown = HARDate(Date(timeIntervalSince1970: 0))
}
