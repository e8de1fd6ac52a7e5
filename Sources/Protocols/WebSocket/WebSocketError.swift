/// Why a handshake or received bytes are not WebSocket, or why something cannot be sent.
public struct WebSocketError: Error, Sendable, Hashable {
    /// What is wrong.
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
        /// The connection's end came without a close frame.
        case closedEarly
        /// What was to be sent comes after a close frame.
        case closing
        /// A control frame with more than 125 bytes was to be sent.
        case controlPayloadTooLong
    }

    /// What is wrong.
    public var kind: Kind

    /// An error of a kind.
    public init(_ kind: Kind) { self.kind = kind }

    /// The code of the close frame that the other side gets.
    public var closeCode: WebSocketCloseCode {
        switch kind {
        case .invalidUTF8, .corruptCompression: .invalidFramePayloadData
        case .messageTooBig: .messageTooBig
        case .emptyFrameFlood: .policyViolation
        case .outOfMemory: .goingAway
        case .missingUpgrade, .wrongAccept, .unofferedProtocol, .unofferedExtension, .malformedExtension,
            .reservedBits, .unknownOpcode, .controlFrameInFragments, .controlFrameTooLong, .masked, .unmasked,
            .wastefulLength, .impossibleLength, .continuationOfNothing, .messageInMessage, .malformedClose,
            .invalidCloseCode, .closedEarly, .closing, .controlPayloadTooLong:
            .protocolError
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
