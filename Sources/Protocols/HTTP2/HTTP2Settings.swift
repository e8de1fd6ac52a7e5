/// What one side of a connection has said of itself (RFC 9113 §6.5.2).
public struct HTTP2Settings: Hashable, Sendable {
    /// The largest window there may be, in bytes (RFC 9113 §6.9.1).
    public static let maximumWindow = 0x7FFF_FFFF

    /// Bytes of the table with which this side decompresses fields. Default 4,096.
    public var headerTableSize = 4096
    /// Whether this side may be sent pushes. Default true, as the RFC has it.
    public var enablesPush = true
    /// How many streams the peer may have open at a time. Nil: any number.
    public var maximumConcurrentStreams: Int?
    /// Bytes of a stream's body that this side takes before it gives the window more room. Default 65,535.
    public var initialWindowSize = 65_535
    /// The longest payload of a frame that this side takes, in bytes. Default 16,384.
    public var maximumFrameSize = 16_384
    /// Advice: the longest list of fields, as the RFC counts it, that this side takes. Nil: any.
    public var maximumHeaderListSize: Int?
    /// Whether extended CONNECT may be used (RFC 8441).
    public var enablesConnectProtocol = false
    /// Whether the priorities of RFC 7540 are not looked at, but those of RFC 9218.
    public var ignoresOldPriorities = false

    /// What counts until the first SETTINGS arrives.
    public init() {}

    /// Takes one parameter.
    mutating func apply(_ setting: HTTP2Setting) throws(HTTP2Error) {
        let value = Int(setting.value)
        switch setting.identifier {
        case HTTP2Setting.headerTableSize: headerTableSize = value
        case HTTP2Setting.enablePush: enablesPush = try Self.flag(value, "SETTINGS_ENABLE_PUSH")
        case HTTP2Setting.maxConcurrentStreams: maximumConcurrentStreams = value
        case HTTP2Setting.initialWindowSize:
            guard value <= Self.maximumWindow else {
                throw .connection(.flowControlError, "an initial window of \(value) bytes is larger than there may be")
            }
            initialWindowSize = value
        case HTTP2Setting.maxFrameSize:
            guard 16_384...16_777_215 ~= value else {
                throw .connection(.protocolError, "a largest frame of \(value) bytes is not from 16,384 to 16,777,215")
            }
            maximumFrameSize = value
        case HTTP2Setting.maxHeaderListSize: maximumHeaderListSize = value
        case HTTP2Setting.enableConnectProtocol:
            enablesConnectProtocol = try Self.flag(value, "SETTINGS_ENABLE_CONNECT_PROTOCOL")
        case HTTP2Setting.noRFC7540Priorities:
            ignoresOldPriorities = try Self.flag(value, "SETTINGS_NO_RFC7540_PRIORITIES")
        case _: break
        }
    }

    private static func flag(_ value: Int, _ name: String) throws(HTTP2Error) -> Bool {
        guard value <= 1 else { throw .connection(.protocolError, "\(name) is \(value), not 0 or 1") }
        return value == 1
    }

    /// The parameters that differ from what counts without them.
    var parameters: [HTTP2Setting] {
        let standard = HTTP2Settings()
        var all: [HTTP2Setting] = []
        func add(_ identifier: UInt16, _ value: Int) {
            all.append(HTTP2Setting(identifier, UInt32(clamping: value)))
        }
        if headerTableSize != standard.headerTableSize { add(HTTP2Setting.headerTableSize, headerTableSize) }
        if enablesPush != standard.enablesPush { add(HTTP2Setting.enablePush, enablesPush ? 1 : 0) }
        if let maximumConcurrentStreams { add(HTTP2Setting.maxConcurrentStreams, maximumConcurrentStreams) }
        if initialWindowSize != standard.initialWindowSize { add(HTTP2Setting.initialWindowSize, initialWindowSize) }
        if maximumFrameSize != standard.maximumFrameSize { add(HTTP2Setting.maxFrameSize, maximumFrameSize) }
        if let maximumHeaderListSize { add(HTTP2Setting.maxHeaderListSize, maximumHeaderListSize) }
        if enablesConnectProtocol { add(HTTP2Setting.enableConnectProtocol, 1) }
        if ignoresOldPriorities { add(HTTP2Setting.noRFC7540Priorities, 1) }
        return all
    }
}
