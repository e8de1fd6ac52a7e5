/// What a peer may send before it is an error. Bodies have no limit.
///
/// Without a clock, a flood is distinguished from use by the useful work that there is beside it: frames that do nothing by
/// themselves take from a credit that requests, responses and bodies fill again.
public struct HTTP2Limits: Sendable, Equatable {
    /// Bytes of one message's header fields, each counted with 32 more as SETTINGS_MAX_HEADER_LIST_SIZE does; 256 KiB,
    /// which is what browsers allow. A compressed block has the same limit.
    public var headerListBytes = 256 * 1024

    /// Fields of one header section; 1,000. Real messages stay far below 100, but each field costs more than its bytes.
    public var fieldCount = 1000

    /// CONTINUATION frames of one header block; 64. The largest block that is allowed needs 16 full frames, and no sender
    /// makes frames of a quarter of that; empty ones would otherwise go on for ever (CVE-2024-27316).
    public var continuationFrames = 64

    /// Interim (1xx) responses before one final response; 32.
    public var interimResponses = 32

    /// Bytes of the request's body for which the server may send one interim response more, once they are sent; 4,096. A
    /// server that takes a resumable upload tells of its progress in them (104), each second or so. 0: no more of them.
    public var bytesForInterimResponse = 4096

    /// Parameters of one SETTINGS frame; 64. There are eight, and frames of 2,730 have no use.
    public var settingsPerFrame = 64

    /// Bytes of GOAWAY's debug data that are kept; 1 KiB, as it is text for people.
    public var debugDataBytes = 1024

    /// The credit for frames that do nothing by themselves: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA, frames
    /// of unknown types or on streams that have ended, one each; 1,000, as a connection that is kept open with a PING
    /// each half minute gets through a working day without any other use.
    public var controlCredit = 1000

    /// What a DATA frame costs that has padding and no content; 1, as an empty one does. Padding is to hide how long content
    /// is (RFC 9113 §10.7), and up to 256 bytes of it in each frame would otherwise go on for ever.
    public var paddingCost = 1

    /// What a stream costs that the peer resets, or makes this side reset; 5: two hundred streams may be abandoned at
    /// once, twice the streams that are open at once on real connections (CVE-2023-44487, CVE-2025-8671).
    public var resetCost = 5

    /// Bytes of answers (PING and SETTINGS with ACK, RST_STREAM, WINDOW_UPDATE) that may wait because the peer does not
    /// read; 64 KiB, far more than one round trip's.
    public var pendingControlBytes = 64 * 1024

    /// Streams that this side reset and whose late frames are not taken for errors; 256, more than are open at once.
    public var rememberedResets = 256

    /// The limits that this page gives.
    public init() {}
}

/// Distinguishes floods from use without a clock: what does nothing by itself costs credit, and useful work fills it again.
struct FloodGuard {
    private let limit: Int
    private var credit: Int

    init(limit: Int) {
        self.limit = limit
        credit = limit
    }

    /// Takes `cost`; an error when the credit is used up.
    @inline(__always)
    mutating func charge(_ cost: Int = 1) throws(HTTP2Error) {
        credit -= cost
        if credit < 0 { throw HTTP2Error(.controlFlood) }
    }

    /// Gives credit back, up to the limit.
    @inline(__always)
    mutating func refill(_ amount: Int) { credit = min(limit, credit &+ max(0, amount)) }
}
