import LoadingKitPrimitives

/// The reason why a handshake or received bytes are not WebSocket, or why a frame cannot be sent.
public struct WebSocketError: Error, Sendable, Hashable {
    /// The kinds of errors.
    public enum Kind: Sendable, Hashable {
        // The handshake (RFC 6455 §4.1).
        case missingUpgrade, wrongAccept
        case unofferedProtocol(String)
        case unofferedExtension(String)
        case malformedExtension(String)
        // Frames (§5).
        case reservedBits
        case unknownOpcode(UInt8)
        case controlFrameInFragments, controlFrameTooLong
        case masked, unmasked
        case wastefulLength, impossibleLength
        case continuationOfNothing, messageInMessage
        case malformedClose
        case invalidCloseCode(UInt16)
        // Messages (§8.1, and RFC 7692).
        case invalidUTF8
        case corruptCompression(String)
        // Limits.
        case messageTooBig(limit: Int)
        case emptyFrameFlood
        case outOfMemory
        /// The connection ended without a close frame.
        case closedEarly
        /// A call tried to send after a close frame.
        case closing
        /// A call tried to send a control frame with more than 125 bytes.
        case controlPayloadTooLong
    }

    /// The kind of the error.
    public var kind: Kind

    /// An error with this kind.
    public init(_ kind: Kind) { self.kind = kind }

    /// The code of the close frame that is sent to the other side.
    public var closeCode: WebSocketCloseCode {
        switch kind {
        case .invalidUTF8, .corruptCompression: .invalidFramePayloadData
        case .messageTooBig: .messageTooBig
        case .emptyFrameFlood: .policyViolation
        case .outOfMemory: .goingAway
        case _: .protocolError
        }
    }
}

extension WebSocketError: CustomStringConvertible {
    /// The error in plain words.
    public var description: String {
        switch kind {
        case .missingUpgrade: "the response does not say that it switches to WebSocket (Upgrade, Connection)"
        case .wrongAccept: "the response's Sec-WebSocket-Accept is not the answer to the request's key"
        case .unofferedProtocol(let name): "the server chose the subprotocol \(name), which was not offered"
        case .unofferedExtension(let name): "the server chose the extension \(name), which was not offered"
        case .malformedExtension(let words): "the server's Sec-WebSocket-Extensions cannot be used: \(words)"
        case .reservedBits: "a frame has reserved bits that no extension uses"
        case .unknownOpcode(let code): "a frame has the unknown opcode \(code)"
        case .controlFrameInFragments: "a control frame comes in fragments"
        case .controlFrameTooLong: "a control frame has more than 125 bytes"
        case .masked: "a server's frame is masked"
        case .unmasked: "a client's frame is not masked"
        case .wastefulLength: "a frame's length takes more bytes than it needs"
        case .impossibleLength: "a frame's length is negative"
        case .continuationOfNothing: "a frame goes on with a message that has not begun"
        case .messageInMessage: "a message begins before the one before it has ended"
        case .malformedClose: "a close frame has one byte, which is half a code"
        case .invalidCloseCode(let code): "a close frame has the code \(code), which may not be sent"
        case .invalidUTF8: "text is not UTF-8"
        case .corruptCompression(let words): "a compressed message is corrupt: \(words)"
        case .messageTooBig(let limit): "a message has more than \(limit) bytes"
        case .emptyFrameFlood: "a message consists of too many empty frames"
        case .outOfMemory: "a message needs more memory than there is"
        case .closedEarly: "the connection ended without a close frame"
        case .closing: "the connection is closing, and takes no more messages"
        case .controlPayloadTooLong: "a ping may have 125 bytes at most"
        }
    }
}

extension WebSocketError: LayerError {
    package var category: LayerErrorCategory {
        switch kind {
        case .missingUpgrade, .wrongAccept, .unofferedProtocol, .unofferedExtension, .malformedExtension:
            .unexpectedResponse
        case .messageTooBig, .outOfMemory: .tooLong
        case .invalidUTF8, .corruptCompression: .undecodableContent
        case .closedEarly, .closing: .connectionLost
        case _: .unparsableResponse
        }
    }
}

/// The reason for closing a connection (RFC 6455 §7.4).
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    /// The number on the wire.
    public var rawValue: UInt16

    /// A code with any number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The purpose of the connection is fulfilled.
    public static let normalClosure = Self(rawValue: 1000)
    /// The server is shutting down, or the user is leaving.
    public static let goingAway = Self(rawValue: 1001)
    /// The other side violated the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// The other side sent a kind of message that is not supported.
    public static let unsupportedData = Self(rawValue: 1003)
    /// The close frame had no code. Never sent.
    public static let noStatusReceived = Self(rawValue: 1005)
    /// The connection ended without a close frame. Never sent.
    public static let abnormalClosure = Self(rawValue: 1006)
    /// A message does not match its kind, for example text that is not UTF-8.
    public static let invalidFramePayloadData = Self(rawValue: 1007)
    /// A message violated a policy of its receiver.
    public static let policyViolation = Self(rawValue: 1008)
    /// A message was too long.
    public static let messageTooBig = Self(rawValue: 1009)
    /// The server did not accept an extension that the client requires.
    public static let mandatoryExtensionMissing = Self(rawValue: 1010)
    /// The server encountered an unexpected condition.
    public static let internalServerError = Self(rawValue: 1011)

    /// Whether a close frame may contain the code: codes of the RFC and its registry, of libraries (3000 to 3999), and
    /// of programs (4000 to 4999) (§7.4.2).
    public var maySend: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        case _: false
        }
    }
}
