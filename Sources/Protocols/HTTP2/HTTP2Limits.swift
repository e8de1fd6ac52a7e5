/// The limits for a peer. Exceeding one is an error. Bodies have no limit.
///
/// A flood is recognised without a clock, by comparison with useful work: frames that do no useful work take from a
/// credit, and requests, responses and bodies fill the credit again.
public struct HTTP2Limits: Sendable, Equatable {
    /// The size of one message's header fields in bytes, with 32 added for each field, as SETTINGS_MAX_HEADER_LIST_SIZE
    /// counts; 256 KiB, as in browsers. A compressed block has the same limit.
    public var headerListBytes = 256 * 1024

    /// The number of fields in one header section; 1,000. Real messages have far fewer than 100, but each field costs
    /// more than its bytes.
    public var fieldCount = 1000

    /// The number of CONTINUATION frames in one header block; 64. The largest allowed block needs 16 full frames, and
    /// no sender makes frames of a quarter of the full size. Empty frames could otherwise continue without end
    /// (CVE-2024-27316).
    public var continuationFrames = 64

    /// The number of interim (1xx) responses before one final response; 32.
    public var interimResponses = 32

    /// The number of sent bytes of the request's body for which the server may send one more interim response; 4,096. A
    /// server that receives a resumable upload reports its progress in such responses (104), about once a second. 0: no
    /// additional ones are allowed.
    public var bytesForInterimResponse = 4096

    /// The number of parameters in one SETTINGS frame; 64. Eight are defined, and a frame with its maximum of 2,730 has
    /// no use.
    public var settingsPerFrame = 64

    /// The number of bytes of GOAWAY's debug data that are kept; 1 KiB, as it is text for people.
    public var debugDataBytes = 1024

    /// The credit for frames that do no useful work by themselves: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA,
    /// and frames of unknown types or on streams that have ended. Each costs one. The credit is 1,000, so that an
    /// unused connection that is kept open with a PING every 30 seconds lasts for a working day. A few frames on each
    /// stream that this side has reset cost nothing, as they may have been on their way (RFC 9113 §5.1).
    public var controlCredit = 1000

    /// The cost of a DATA frame that has padding and no content; 1, the cost of an empty one. Padding hides the length
    /// of content (RFC 9113 §10.7). Frames with up to 256 bytes of padding could otherwise continue without end.
    public var paddingCost = 1

    /// The cost, on a server, of a stream that the client resets, or causes the server to reset; 5. Two hundred streams
    /// may be abandoned at once, twice the number that is open at once on real connections (CVE-2023-44487,
    /// CVE-2025-8671). A client's own streams cost nothing: the server cannot open more of them.
    public var resetCost = 5

    /// The number of bytes of answers (PING and SETTINGS with ACK, RST_STREAM, WINDOW_UPDATE) that may wait because the
    /// peer does not read; 64 KiB, far more than in one round trip.
    public var pendingControlBytes = 64 * 1024

    /// The number of streams that this side has reset and whose late frames are not errors; 256, more than are open at
    /// once.
    public var rememberedResets = 256

    /// The default limits.
    public init() {}
}

/// Distinguishes floods from normal use without a clock: frames without useful work cost credit, and useful work
/// restores it.
struct FloodGuard {
    private let limit: Int
    private var credit: Int
    /// The number of frames on reset streams that cost nothing.
    private var late = 0

    /// The frames that are expected for each reset, usually at most the heads of an interim response and of the response,
    /// empty DATA with END_STREAM, and RST_STREAM; for an upload also WINDOW_UPDATE, in place of some of them.
    private static let lateFrames = 4
    /// Those of a thousand streams, more than are open at once.
    private static let mostLateFrames = 4096

    init(limit: Int) {
        self.limit = limit
        credit = limit
    }

    /// Takes `cost` from the credit. Throws if the credit is used up.
    @inline(__always)
    mutating func charge(_ cost: Int = 1) throws(HTTP2Error) {
        credit -= cost
        if credit < 0 { throw HTTP2Error(.controlFlood) }
    }

    /// This side has reset a stream on which the peer may have sent frames before it received the reset.
    mutating func expectLateFrames() { late = min(Self.mostLateFrames, late + Self.lateFrames) }

    /// Takes the cost of a frame on a stream that this side has reset, as far as the frame is not expected.
    mutating func chargeLateFrame() throws(HTTP2Error) {
        if late > 0 { late -= 1 } else { try charge() }
    }

    /// Restores credit, up to the limit.
    @inline(__always)
    mutating func refill(_ amount: Int) { credit = min(limit, credit &+ max(0, amount)) }
}
