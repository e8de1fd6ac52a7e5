/// The types of frames (RFC 9113 §6).
enum HTTP2FrameType: UInt8 {
    case data = 0x0
    case headers = 0x1
    case priority = 0x2
    case reset = 0x3
    case settings = 0x4
    case pushPromise = 0x5
    case ping = 0x6
    case goAway = 0x7
    case windowUpdate = 0x8
    case continuation = 0x9
}

/// The flags of frames; which of them mean something depends on the type (RFC 9113 §6).
struct HTTP2FrameFlags: OptionSet {
    let rawValue: UInt8

    static let endStream = HTTP2FrameFlags(rawValue: 0x1)
    static let acknowledgement = HTTP2FrameFlags(rawValue: 0x1)
    static let endHeaders = HTTP2FrameFlags(rawValue: 0x4)
    static let padded = HTTP2FrameFlags(rawValue: 0x8)
    static let priority = HTTP2FrameFlags(rawValue: 0x20)
}
