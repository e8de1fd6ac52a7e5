/// Why a connection is closed (RFC 6455 §7.4).
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    /// The number on the wire.
    public var rawValue: UInt16

    /// A code of any number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The purpose of the connection is fulfilled.
    public static let normalClosure = Self(rawValue: 1000)
    /// The server goes down, or the user leaves.
    public static let goingAway = Self(rawValue: 1001)
    /// The other side broke the protocol's rules.
    public static let protocolError = Self(rawValue: 1002)
    /// The other side sent a kind of message that cannot be taken.
    public static let unsupportedData = Self(rawValue: 1003)
    /// The close frame had no code. Never sent.
    public static let noStatusReceived = Self(rawValue: 1005)
    /// The connection ended without a close frame. Never sent.
    public static let abnormalClosure = Self(rawValue: 1006)
    /// A message was not what its kind says, as text that is not UTF-8.
    public static let invalidFramePayloadData = Self(rawValue: 1007)
    /// A message broke a rule of the side that got it.
    public static let policyViolation = Self(rawValue: 1008)
    /// A message was too long.
    public static let messageTooBig = Self(rawValue: 1009)
    /// The server did not agree to an extension that the client needs.
    public static let mandatoryExtensionMissing = Self(rawValue: 1010)
    /// The server met something that it did not expect.
    public static let internalServerError = Self(rawValue: 1011)

    /// Whether the code may be in a close frame: those of the RFC and its registry, of libraries (3000 to 3999), and of
    /// programs (4000 to 4999) (§7.4.2).
    public var maySend: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        case _: false
        }
    }
}
