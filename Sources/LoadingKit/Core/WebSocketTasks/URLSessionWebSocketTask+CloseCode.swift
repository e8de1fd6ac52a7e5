extension URLSessionWebSocketTask {
    /// Why a WebSocket connection was closed (RFC 6455 §7.4.1).
    ///
    /// A code that has no case here, as those of programs (4000 to 4999), is ``invalid``;
    /// ``URLSessionWebSocketTask/rawCloseCode`` has its number.
    public enum CloseCode: Int, Sendable {
        /// The connection is not closed, or by a code that has no case.
        case invalid = 0
        /// Its purpose is fulfilled.
        case normalClosure = 1000
        /// A side goes away: a server that goes down, or a user that leaves.
        case goingAway = 1001
        /// A side broke the protocol's rules.
        case protocolError = 1002
        /// A side got a kind of message that it cannot take.
        case unsupportedData = 1003
        /// The close frame had no code.
        case noStatusReceived = 1005
        /// The connection ended without a close frame.
        case abnormalClosure = 1006
        /// A message was not what its kind says, as text that is not UTF-8.
        case invalidFramePayloadData = 1007
        /// A message broke a rule of the side that got it.
        case policyViolation = 1008
        /// A message was too long.
        case messageTooBig = 1009
        /// The server did not agree to an extension that the client needs.
        case mandatoryExtensionMissing = 1010
        /// The server met something that it did not expect.
        case internalServerError = 1011
        /// TLS failed. Never on the wire.
        case tlsHandshakeFailure = 1015
    }
}
