/// All that one side has said about itself in SETTINGS frames (RFC 9113 §6.5.2), beginning with the RFC's values.
public struct HTTP2Settings: Sendable, Hashable {
    /// Bytes of its HPACK decoding table.
    public var headerTableSize: UInt32 = 4096
    /// Whether it takes pushed responses.
    public var enablePush = true
    /// How many streams its peer may have open at once; nil is as many as it likes.
    public var maxConcurrentStreams: UInt32?
    /// Bytes that its peer may send on a new stream; at most 2³¹ - 1.
    public var initialWindowSize: UInt32 = 65535
    /// The longest payload of a frame that it takes; 2¹⁴ to 2²⁴ - 1.
    public var maxFrameSize: UInt32 = 16384
    /// How large header fields may be, each counted with 32 bytes more; nil where it does not say.
    public var maxHeaderListSize: UInt32?
    /// Whether it understands extended CONNECT (RFC 8441).
    public var enableConnectProtocol = false
    /// Whether PRIORITY frames mean nothing to it (RFC 9218 §2.1).
    public var noRFC7540Priorities = false

    /// The values that hold before any SETTINGS frame.
    public init() {}

    /// Takes over one parameter. Unknown ones are ignored (§6.5.2).
    mutating func apply(_ setting: HTTP2Setting) throws(HTTP2Error) {
        let value = setting.value
        switch setting.identifier {
        case .headerTableSize: headerTableSize = value
        case .enablePush: enablePush = try Self.flag(value)
        case .maxConcurrentStreams: maxConcurrentStreams = value
        case .initialWindowSize:
            guard value <= 0x7fff_ffff else {
                throw HTTP2Error(.badSetting, .connection, code: .flowControlError)
            }
            initialWindowSize = value
        case .maxFrameSize:
            guard value >= 16384, value <= 0xff_ffff else { throw HTTP2Error(.badSetting) }
            maxFrameSize = value
        case .maxHeaderListSize: maxHeaderListSize = value
        case .enableConnectProtocol:
            let isEnabled = try Self.flag(value)
            // RFC 8441 §3: it may not be taken back.
            guard isEnabled || !enableConnectProtocol else { throw HTTP2Error(.badSetting) }
            enableConnectProtocol = isEnabled
        case .noRFC7540Priorities: noRFC7540Priorities = try Self.flag(value)
        default: break  // The RFC asks that unknown parameters be ignored; identifiers are numbers, not an enum.
        }
    }

    private static func flag(_ value: UInt32) throws(HTTP2Error) -> Bool {
        guard value <= 1 else { throw HTTP2Error(.badSetting) }
        return value == 1
    }

    /// The parameters in which these settings differ from `other`'s.
    func changes(from other: HTTP2Settings) -> [HTTP2Setting] {
        var changes: [HTTP2Setting] = []
        func add(_ identifier: HTTP2Setting.Identifier, _ value: UInt32?, _ before: UInt32?) {
            // A limit cannot be taken back by a frame; the largest number says the same.
            if value != before { changes.append(HTTP2Setting(identifier, value ?? .max)) }
        }
        add(.headerTableSize, headerTableSize, other.headerTableSize)
        add(.enablePush, enablePush ? 1 : 0, other.enablePush ? 1 : 0)
        add(.maxConcurrentStreams, maxConcurrentStreams, other.maxConcurrentStreams)
        add(.initialWindowSize, initialWindowSize, other.initialWindowSize)
        add(.maxFrameSize, maxFrameSize, other.maxFrameSize)
        add(.maxHeaderListSize, maxHeaderListSize, other.maxHeaderListSize)
        add(.enableConnectProtocol, enableConnectProtocol ? 1 : 0, other.enableConnectProtocol ? 1 : 0)
        add(.noRFC7540Priorities, noRFC7540Priorities ? 1 : 0, other.noRFC7540Priorities ? 1 : 0)
        return changes
    }
}
