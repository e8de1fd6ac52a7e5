/// A frame that was received, its payload left where it is.
public enum HTTP2Frame: Sendable {
    /// Bytes of a payload: in the input, or kept by the decoder because they came in several pieces.
    public enum Bytes: Sendable, Hashable {
        case input(Range<Int>)
        case kept(Range<Int>)
    }

    /// What HEADERS and PRIORITY say of a stream's dependencies; nobody acts on it (RFC 9113 §5.3.2).
    public struct Dependency: Sendable, Hashable {
        /// The stream that this one depends on; 0 for none.
        public var stream: UInt32
        /// From 1 to 256.
        public var weight: Int
        /// Whether the other dependents of that stream are to depend on this one.
        public var isExclusive: Bool

        /// A dependency with a weight from 1 to 256.
        public init(stream: UInt32, weight: Int, isExclusive: Bool) {
            self.stream = stream
            self.weight = weight
            self.isExclusive = isExclusive
        }
    }

    /// A piece of a DATA frame: `bytes` of the input. `counted` of the frame's bytes, padding included, go off the
    /// windows with it; `isFirst` and `isLast` say where in the frame it is; the last piece may be empty.
    case data(stream: UInt32, bytes: Range<Int>, counted: Int, isFirst: Bool, isLast: Bool, endStream: Bool)
    /// HEADERS with all CONTINUATION after it.
    case headers(stream: UInt32, block: Bytes, endStream: Bool, Dependency?)
    case priority(stream: UInt32, Dependency)
    case reset(stream: UInt32, HTTP2ErrorCode)
    case settings([HTTP2Setting])
    case settingsAcknowledgement
    /// PUSH_PROMISE with all CONTINUATION after it.
    case pushPromise(stream: UInt32, promised: UInt32, block: Bytes)
    case ping(UInt64, isAcknowledgement: Bool)
    case goAway(lastStream: UInt32, HTTP2ErrorCode, debugData: Bytes)
    /// Stream 0 is the connection.
    case windowUpdate(stream: UInt32, increment: Int)
    /// A type that is not known, to be ignored (RFC 9113 §4.1).
    case unknown(type: UInt8, stream: UInt32)
}
