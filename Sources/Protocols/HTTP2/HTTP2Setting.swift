/// One parameter of a SETTINGS frame (RFC 9113 §6.5).
public struct HTTP2Setting: Sendable, Hashable {
    /// Which parameter a setting is.
    public struct Identifier: RawRepresentable, Sendable, Hashable {
        /// The number as it is sent.
        public var rawValue: UInt16

        /// An identifier of any number.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// SETTINGS_HEADER_TABLE_SIZE: bytes of the sender's HPACK decoding table; 4,096 unless said.
        public static let headerTableSize = Self(rawValue: 1)
        /// SETTINGS_ENABLE_PUSH: 0 or 1; 1 unless said.
        public static let enablePush = Self(rawValue: 2)
        /// SETTINGS_MAX_CONCURRENT_STREAMS: streams that the peer may have open; unlimited unless said.
        public static let maxConcurrentStreams = Self(rawValue: 3)
        /// SETTINGS_INITIAL_WINDOW_SIZE: bytes that the peer may send on a new stream; 65,535 unless said.
        public static let initialWindowSize = Self(rawValue: 4)
        /// SETTINGS_MAX_FRAME_SIZE: the longest payload that the sender takes; 16,384 unless said.
        public static let maxFrameSize = Self(rawValue: 5)
        /// SETTINGS_MAX_HEADER_LIST_SIZE: advice on how large header fields may be; unlimited unless said.
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
