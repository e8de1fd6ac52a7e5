/// The state of a stream (RFC 9113 §5.1). Only open and half closed streams are stored:
///
///                          +--------+
///                  send HE |  idle  | recv HE
///                  ,-------|        |-------.
///                  v       +--------+       v
///                             open
///        recv ES (or ES with HE) | send ES (or ES with HE)
///            v                                  v
///     half closed (remote)              half closed (local)
///            |        send ES / recv ES         |
///            `-----------> closed <-------------'
///                  (or RST_STREAM at any time)
///
/// Idle streams have numbers that were never used. Closed streams are forgotten, except those that were reset
/// (``ResetMemory``). The reserved states belong to push, which this implementation refuses.
enum StreamState {
    case open(sending: SendPhase, receiving: ReceivePhase)
    /// This side has sent END_STREAM.
    case halfClosedLocal(receiving: ReceivePhase)
    /// The peer has sent END_STREAM.
    case halfClosedRemote(sending: SendPhase)
}

extension StreamState {
    /// The phase of sending; nil after END_STREAM.
    var sending: SendPhase? {
        switch self {
        case .open(let sending, _), .halfClosedRemote(let sending): sending
        case .halfClosedLocal: nil
        }
    }

    /// The phase of receiving; nil after END_STREAM.
    var receiving: ReceivePhase? {
        switch self {
        case .open(_, let receiving), .halfClosedLocal(let receiving): receiving
        case .halfClosedRemote: nil
        }
    }

    /// The state with the next phase of sending; nil if the stream is closed by it.
    func sent(_ next: SendPhase?) -> StreamState? {
        switch (self, next) {
        case (.open(_, let receiving), let next?): .open(sending: next, receiving: receiving)
        case (.open(_, let receiving), nil): .halfClosedLocal(receiving: receiving)
        case (.halfClosedRemote, let next?): .halfClosedRemote(sending: next)
        case (.halfClosedRemote, nil): nil
        case (.halfClosedLocal, _): self
        }
    }

    /// The state with the next phase of receiving; nil if the stream is closed by it.
    func received(_ next: ReceivePhase?) -> StreamState? {
        switch (self, next) {
        case (.open(let sending, _), let next?): .open(sending: sending, receiving: next)
        case (.open(let sending, _), nil): .halfClosedRemote(sending: sending)
        case (.halfClosedLocal, let next?): .halfClosedLocal(receiving: next)
        case (.halfClosedLocal, nil): nil
        case (.halfClosedRemote, _): self
        }
    }
}

/// The next part of a message to send on a stream.
enum SendPhase {
    /// The header fields of a request or response. Interim responses may precede them.
    case head
    /// DATA, or trailers.
    case body
}

/// The next part of a message to receive on a stream.
enum ReceivePhase {
    /// Header fields. Interim responses may precede them.
    case head
    /// DATA, or trailers.
    case body
}

/// The data of one stream that is open or half closed. It has only plain numbers, so that a table of streams is one
/// block of memory, and a frame finds its stream without reference counting.
struct Stream {
    /// Whether the opening of the window is reported to the caller.
    var isBlocked = false
    /// Whether a received body is dropped: in the response to HEAD, whose length is that of another body.
    var expectsNoBody = false
    /// Whether the request is CONNECT: a success opens a tunnel.
    var isTunnel = false
    var state = StreamState.open(sending: .head, receiving: .head)
    /// The number of interim responses received, less those that the sent bytes of the body have allowed.
    var interims: Int32 = 0
    /// The number of sent bytes of the body that have not allowed another interim response yet.
    var sentBytes: UInt32 = 0
    var sendWindow = SendWindow(0)
    var receiveWindow = ReceiveWindow(available: 0, target: 0)
    /// The number of bytes that content-length announces and that have not arrived; -1 without this field.
    var missingBytes: Int64 = -1
}

/// A stream's number: 31 bits (RFC 9113 §5.1.1). 0 stands for the connection itself.
public struct HTTP2StreamID: RawRepresentable, Sendable, Hashable {
    /// The number, at most 2³¹ - 1.
    public let rawValue: UInt32

    /// The stream with a number. The highest bit is reserved and ignored.
    @inlinable
    public init(rawValue: UInt32) { self.rawValue = rawValue & 0x7fff_ffff }

    /// The whole connection.
    public static let connection = Self(rawValue: 0)
    /// The largest number.
    public static let last = Self(rawValue: 0x7fff_ffff)

    /// Whether a client opens the stream with this number.
    @inlinable
    public var isClientInitiated: Bool { rawValue & 1 == 1 }
}

extension HTTP2StreamID: Comparable {
    /// Whether `a` was opened before `b`, if the same side opened both (RFC 9113 §5.1.1).
    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension HTTP2StreamID: CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// The stream with a number.
    @inlinable
    public init(integerLiteral value: UInt32) { self.init(rawValue: value) }

    /// The number in decimal digits.
    public var description: String { String(rawValue) }
}
