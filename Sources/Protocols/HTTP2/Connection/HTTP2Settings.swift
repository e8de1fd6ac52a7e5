/// All settings that one side has announced in its SETTINGS frames (RFC 9113 §6.5.2). The initial values are the RFC's.
public struct HTTP2Settings: Sendable, Hashable {
    /// The size of this side's HPACK decoding table, in bytes.
    public var headerTableSize: UInt32 = 4096
    /// Whether this side accepts pushed responses.
    public var enablePush = true
    /// The number of streams that the peer may have open at once; nil for no limit.
    public var maxConcurrentStreams: UInt32?
    /// The number of bytes that the peer may send on a new stream; at most 2³¹ - 1.
    public var initialWindowSize: UInt32 = 65535
    /// The longest frame payload that this side accepts; 2¹⁴ to 2²⁴ - 1.
    public var maxFrameSize: UInt32 = 16384
    /// The largest size of header fields, with 32 bytes added for each field; nil if this side does not announce it.
    public var maxHeaderListSize: UInt32?
    /// Whether this side supports extended CONNECT (RFC 8441).
    public var enableConnectProtocol = false
    /// Whether this side ignores PRIORITY frames (RFC 9218 §2.1).
    public var noRFC7540Priorities = false

    /// The values that are in effect before any SETTINGS frame.
    public init() {}

    /// Applies one parameter. Unknown parameters are ignored (§6.5.2).
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
            // RFC 8441 §3: the setting must not be withdrawn.
            guard isEnabled || !enableConnectProtocol else { throw HTTP2Error(.badSetting) }
            enableConnectProtocol = isEnabled
        case .noRFC7540Priorities: noRFC7540Priorities = try Self.flag(value)
        default: break  // The RFC requires unknown parameters to be ignored; identifiers are numbers, not an enum.
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
            // A frame cannot remove a limit. The largest number has the same effect.
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

/// One parameter of a SETTINGS frame (RFC 9113 §6.5).
public struct HTTP2Setting: Sendable, Hashable {
    /// The identifier of a parameter.
    public struct Identifier: RawRepresentable, Sendable, Hashable {
        /// The number on the wire.
        public var rawValue: UInt16

        /// An identifier with any number.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// SETTINGS_HEADER_TABLE_SIZE: bytes of the sender's HPACK decoding table; 4,096 by default.
        public static let headerTableSize = Self(rawValue: 1)
        /// SETTINGS_ENABLE_PUSH: 0 or 1; 1 by default.
        public static let enablePush = Self(rawValue: 2)
        /// SETTINGS_MAX_CONCURRENT_STREAMS: streams that the peer may have open; unlimited by default.
        public static let maxConcurrentStreams = Self(rawValue: 3)
        /// SETTINGS_INITIAL_WINDOW_SIZE: bytes that the peer may send on a new stream; 65,535 by default.
        public static let initialWindowSize = Self(rawValue: 4)
        /// SETTINGS_MAX_FRAME_SIZE: the longest payload that the sender accepts; 16,384 by default.
        public static let maxFrameSize = Self(rawValue: 5)
        /// SETTINGS_MAX_HEADER_LIST_SIZE: the advisory largest size of header fields; unlimited by default.
        public static let maxHeaderListSize = Self(rawValue: 6)
        /// SETTINGS_ENABLE_CONNECT_PROTOCOL: 1 if extended CONNECT is supported (RFC 8441).
        public static let enableConnectProtocol = Self(rawValue: 8)
        /// SETTINGS_NO_RFC7540_PRIORITIES: 1 if PRIORITY frames are ignored (RFC 9218 §2.1).
        public static let noRFC7540Priorities = Self(rawValue: 9)
    }

    /// The parameter's identifier.
    public var identifier: Identifier
    /// The parameter's value.
    public var value: UInt32

    /// A parameter and its value, without validation.
    public init(_ identifier: Identifier, _ value: UInt32) {
        self.identifier = identifier
        self.value = value
    }
}
