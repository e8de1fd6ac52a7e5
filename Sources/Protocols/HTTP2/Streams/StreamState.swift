/// Where a stream stands (RFC 9113 §5.1), for the states in which it is kept:
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
/// Idle streams have numbers that were never used; closed ones are forgotten, but for those that were reset
/// (``ResetMemory``). The reserved states belong to push, which this implementation refuses.
enum StreamState {
    case open(sending: SendPhase, receiving: ReceivePhase)
    /// This side has sent END_STREAM.
    case halfClosedLocal(receiving: ReceivePhase)
    /// The peer has sent END_STREAM.
    case halfClosedRemote(sending: SendPhase)
}

extension StreamState {
    /// What may be sent; nil after END_STREAM.
    var sending: SendPhase? {
        switch self {
        case .open(let sending, _), .halfClosedRemote(let sending): sending
        case .halfClosedLocal: nil
        }
    }

    /// What has to be received; nil after END_STREAM.
    var receiving: ReceivePhase? {
        switch self {
        case .open(_, let receiving), .halfClosedLocal(let receiving): receiving
        case .halfClosedRemote: nil
        }
    }

    /// The state with the next phase of sending; nil when the stream is closed by it.
    func sent(_ next: SendPhase?) -> StreamState? {
        switch (self, next) {
        case (.open(_, let receiving), let next?): .open(sending: next, receiving: receiving)
        case (.open(_, let receiving), nil): .halfClosedLocal(receiving: receiving)
        case (.halfClosedRemote, let next?): .halfClosedRemote(sending: next)
        case (.halfClosedRemote, nil): nil
        case (.halfClosedLocal, _): self
        }
    }

    /// Allows so many interim responses more.
    mutating func earnInterims(_ count: Int32) {
        switch self {
        case .open(let sending, .head(let interims)):
            self = .open(sending: sending, receiving: .head(interims: max(interims, .min / 2) - count))
        case .halfClosedLocal(.head(let interims)):
            self = .halfClosedLocal(receiving: .head(interims: max(interims, .min / 2) - count))
        case .open(_, .body), .halfClosedLocal(.body), .halfClosedRemote: break
        }
    }

    /// The state with the next phase of receiving; nil when the stream is closed by it.
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

/// What may be sent next on a stream.
enum SendPhase {
    /// A request's or response's header fields; interim responses before them.
    case head
    /// DATA, or trailers.
    case body
}

/// What has to be received next on a stream.
enum ReceivePhase {
    /// Header fields; so many interim responses have come, less those that what was sent of the body has earned.
    case head(interims: Int32)
    /// DATA, or trailers.
    case body
}

/// All that is known of one stream that is open or half closed. Plain numbers, so that a table of them is one block of
/// memory in which a frame finds its stream without a reference being counted.
struct Stream {
    /// Whether it is reported to the caller when the window opens.
    var isBlocked = false
    /// Whether what comes as the body is dropped: of the response to HEAD, whose length is that of another body.
    var expectsNoBody = false
    var state = StreamState.open(sending: .head, receiving: .head(interims: 0))
    var sendWindow = SendWindow(0)
    var receiveWindow = ReceiveWindow(available: 0, target: 0)
    /// Bytes that content-length promises and that have not come; -1 without that field.
    var missingBytes: Int64 = -1
}

/// A stream's number: 31 bits (RFC 9113 §5.1.1); 0 is the connection itself.
public struct HTTP2StreamID: RawRepresentable, Sendable, Hashable {
    /// The number, at most 2³¹ - 1.
    public let rawValue: UInt32

    /// The stream of a number. The highest bit is reserved, and ignored.
    @inlinable
    public init(rawValue: UInt32) { self.rawValue = rawValue & 0x7fff_ffff }

    /// The connection as a whole.
    public static let connection = Self(rawValue: 0)
    /// The last number that there is.
    public static let last = Self(rawValue: 0x7fff_ffff)

    /// Whether a client opens streams of that number.
    @inlinable
    public var isClientInitiated: Bool { rawValue & 1 == 1 }
}

extension HTTP2StreamID: Comparable {
    /// Whether `a` was opened before `b`, where the same side opened both (RFC 9113 §5.1.1).
    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension HTTP2StreamID: CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// The stream of a number.
    @inlinable
    public init(integerLiteral value: UInt32) { self.init(rawValue: value) }

    /// The number in decimal digits.
    public var description: String { String(rawValue) }
}
