/// One parameter of SETTINGS (RFC 9113 §6.5.1). Identifiers that are not known are kept, to be ignored.
public struct HTTP2Setting: Hashable, Sendable {
    /// Which parameter it is.
    public var identifier: UInt16
    /// Its value.
    public var value: UInt32

    /// A parameter with its value.
    public init(_ identifier: UInt16, _ value: UInt32) {
        self.identifier = identifier
        self.value = value
    }

    static let headerTableSize: UInt16 = 0x1
    static let enablePush: UInt16 = 0x2
    static let maxConcurrentStreams: UInt16 = 0x3
    static let initialWindowSize: UInt16 = 0x4
    static let maxFrameSize: UInt16 = 0x5
    static let maxHeaderListSize: UInt16 = 0x6
    /// RFC 8441 §3.
    static let enableConnectProtocol: UInt16 = 0x8
    /// RFC 9218 §2.1.
    static let noRFC7540Priorities: UInt16 = 0x9
}
