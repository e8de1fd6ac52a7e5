/// All that one side has announced in its SETTINGS frames (RFC 9113 §6.5.2), beginning with the RFC's values.
public struct HTTP2Settings: Sendable, Hashable {
    /// Bytes of its HPACK decoding table.
    public var headerTableSize: UInt32 = 4096
    /// Whether it takes pushed responses.
    public var enablePush = true
    /// How many streams its peer may have open at once; nil: no limit.
    public var maxConcurrentStreams: UInt32?
    /// Bytes that its peer may send on a new stream; at most 2³¹ - 1.
    public var initialWindowSize: UInt32 = 65535
    /// The longest payload of a frame that it takes; 2¹⁴ to 2²⁴ - 1.
    public var maxFrameSize: UInt32 = 16384
    /// How large header fields may be, each counted with 32 bytes more; nil where it does not announce that.
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
        default: break  // The RFC has unknown parameters ignored; identifiers are numbers, not an enum.
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
            // A limit cannot be taken back by a frame; the largest number means the same.
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
    /// Which parameter a setting is.
    public struct Identifier: RawRepresentable, Sendable, Hashable {
        /// The number as it is sent.
        public var rawValue: UInt16

        /// An identifier of any number.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// SETTINGS_HEADER_TABLE_SIZE: bytes of the sender's HPACK decoding table; 4,096 by default.
        public static let headerTableSize = Self(rawValue: 1)
        /// SETTINGS_ENABLE_PUSH: 0 or 1; 1 by default.
        public static let enablePush = Self(rawValue: 2)
        /// SETTINGS_MAX_CONCURRENT_STREAMS: streams that the peer may have open; unlimited by default.
        public static let maxConcurrentStreams = Self(rawValue: 3)
        /// SETTINGS_INITIAL_WINDOW_SIZE: bytes that the peer may send on a new stream; 65,535 by default.
        public static let initialWindowSize = Self(rawValue: 4)
        /// SETTINGS_MAX_FRAME_SIZE: the longest payload that the sender takes; 16,384 by default.
        public static let maxFrameSize = Self(rawValue: 5)
        /// SETTINGS_MAX_HEADER_LIST_SIZE: advice on how large header fields may be; unlimited by default.
        public static let maxHeaderListSize = Self(rawValue: 6)
        /// SETTINGS_ENABLE_CONNECT_PROTOCOL: 1 when extended CONNECT is understood (RFC 8441).
        public static let enableConnectProtocol = Self(rawValue: 8)
        /// SETTINGS_NO_RFC7540_PRIORITIES: 1 when PRIORITY frames mean nothing (RFC 9218 §2.1).
        public static let noRFC7540Priorities = Self(rawValue: 9)
    }

    /// Which parameter it is.
    public var identifier: Identifier
    /// Its value.
    public var value: UInt32

    /// A parameter and its value; nothing is checked here.
    public init(_ identifier: Identifier, _ value: UInt32) {
        self.identifier = identifier
        self.value = value
    }
}
