import Foundation

/// An event of a stream of type `text/event-stream` (HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The stream's last event ID at this event: that of an earlier event where this one sets none. Empty where there
    /// was none.
    public var id: String
    /// The event's type; `message` where the server sends none.
    public var event: String
    /// The data: the lines of all `data` fields, with line feeds between them.
    public var data: String
    /// The reconnection time in milliseconds sent with this event; nil where there was none.
    public var retry: Int?

    /// Makes an event with these properties.
    public init(id: String = "", event: String = "message", data: String, retry: Int? = nil) {
        self.id = id
        self.event = event
        self.data = data
        self.retry = retry
    }
}

/// Limits for the memory that a server can make an event stream use. Beyond a limit the stream fails.
public struct EventStreamLimits: Sendable, Hashable {
    /// The largest number of bytes in a line, without its end. Default 4 MiB.
    public var maximumLineSize = 4 << 20
    /// The largest number of bytes of an event's data. Default 16 MiB.
    public var maximumEventSize = 16 << 20
    /// The largest number of bytes in an event's ID, which the next request has in a field. Default 4 KiB.
    public var maximumIDSize = 4 << 10

    /// Makes the default limits.
    public init() {}
}

/// A limit that an event stream has exceeded.
public enum EventStreamParseError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// A line has more bytes than ``EventStreamLimits/maximumLineSize``.
    case lineTooLong(limit: Int)
    /// An event's data has more bytes than ``EventStreamLimits/maximumEventSize``.
    case eventTooLong(limit: Int)
    /// An event's ID has more bytes than ``EventStreamLimits/maximumIDSize``.
    case idTooLong(limit: Int)

    /// The description in plain words, with the limit's name.
    public var description: String {
        switch self {
        case .lineTooLong(let limit):
            "a line of the event stream has more than \(limit) bytes: raise EventStreamLimits.maximumLineSize where the server is "
                + "trusted"
        case .eventTooLong(let limit):
            "an event has more than \(limit) bytes of data: raise EventStreamLimits.maximumEventSize where the server is trusted"
        case .idTooLong(let limit):
            "the ID of an event has more than \(limit) bytes: raise EventStreamLimits.maximumIDSize where the server is trusted"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
