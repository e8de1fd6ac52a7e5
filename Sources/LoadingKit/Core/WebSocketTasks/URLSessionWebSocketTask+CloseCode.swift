extension URLSessionWebSocketTask {
    /// Why a WebSocket connection was closed (RFC 6455 §7.4): any number, of which the documented ones have names.
    ///
    /// Codes of libraries (3000 to 3999) and of applications (4000 to 4999) are values like the others:
    ///
    ///     socket.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: 4001) ?? .goingAway, reason: nil)
    ///
    /// As on Apple's systems, a `switch` over the documented names needs `default` or `@unknown default`, which is where a
    /// code without a name goes.
    public enum CloseCode: RawRepresentable, Hashable, Sendable {
        /// The connection is not closed.
        case invalid
        /// Its purpose is fulfilled: 1000.
        case normalClosure
        /// A side goes away, as a server that goes down, or a user that leaves: 1001.
        case goingAway
        /// A side broke the protocol's rules: 1002.
        case protocolError
        /// A side got a kind of message that it cannot take: 1003.
        case unsupportedData
        /// The close frame had no code: 1005. Never on the wire.
        case noStatusReceived
        /// The connection ended without a close frame: 1006. Never on the wire.
        case abnormalClosure
        /// A message was not what its kind says, as text that is not UTF-8: 1007.
        case invalidFramePayloadData
        /// A message broke a rule of the side that got it: 1008.
        case policyViolation
        /// A message was too long: 1009.
        case messageTooBig
        /// The server did not agree to an extension that the client needs: 1010.
        case mandatoryExtensionMissing
        /// The server met something that it did not expect: 1011.
        case internalServerError
        /// TLS failed: 1015. Never on the wire.
        case tlsHandshakeFailure
        /// A code without a name of its own. Programs that run on Apple's systems, too, say `default`.
        case other(Int)

        /// The code of any number; never nil.
        public init?(rawValue: Int) {
            self = Self.named.first { $0.rawValue == rawValue } ?? .other(rawValue)
        }

        private static let named: [CloseCode] = [
            .invalid, .normalClosure, .goingAway, .protocolError, .unsupportedData, .noStatusReceived,
            .abnormalClosure, .invalidFramePayloadData, .policyViolation, .messageTooBig, .mandatoryExtensionMissing,
            .internalServerError, .tlsHandshakeFailure,
        ]

        /// The number. Those that may not be on the wire (RFC 6455 §7.4) are never sent.
        public var rawValue: Int {
            switch self {
            case .invalid: 0
            case .normalClosure: 1000
            case .goingAway: 1001
            case .protocolError: 1002
            case .unsupportedData: 1003
            case .noStatusReceived: 1005
            case .abnormalClosure: 1006
            case .invalidFramePayloadData: 1007
            case .policyViolation: 1008
            case .messageTooBig: 1009
            case .mandatoryExtensionMissing: 1010
            case .internalServerError: 1011
            case .tlsHandshakeFailure: 1015
            case .other(let number): number
            }
        }

        /// Whether the numbers are equal.
        public static func == (one: CloseCode, other: CloseCode) -> Bool { one.rawValue == other.rawValue }

        /// Hashes the number.
        public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
    }
}
