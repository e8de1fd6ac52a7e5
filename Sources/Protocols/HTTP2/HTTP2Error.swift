import LoadingKitPrimitives

/// The reason why received bytes are not HTTP/2, or why a call is refused.
public struct HTTP2Error: Error, Sendable, Equatable {
    /// The part that an error ends (RFC 9113 §5.4).
    public enum Scope: Sendable, Hashable {
        /// The connection, with a GOAWAY frame.
        case connection
        /// One stream, with a RST_STREAM frame. The connection continues.
        case stream(HTTP2StreamID)
        /// Neither: the call had no effect, and no byte was sent.
        case call
    }

    /// The party at fault, which can correct the error.
    public enum Fault: Sendable, Hashable {
        /// The program that uses this module: it tried to send a message that is not allowed.
        case user
        /// The other side of the connection.
        case peer
    }

    /// The kind of the error.
    public var kind: Kind
    /// The part that the error ends.
    public var scope: Scope
    /// The code that is sent to the peer, or that the peer sent.
    public var code: HTTP2ErrorCode

    /// An error with its kind's own code.
    public init(_ kind: Kind, _ scope: Scope = .connection) {
        self.init(kind, scope, code: kind.code)
    }

    /// An error with another code than its kind's.
    public init(_ kind: Kind, _ scope: Scope, code: HTTP2ErrorCode) {
        self.kind = kind
        self.scope = scope
        self.code = code
    }

    /// The party at fault.
    public var fault: Fault { kind.code == .internalError ? .user : .peer }
}

extension HTTP2Error: CustomStringConvertible {
    /// The error in plain words, with the RFC's name for its code.
    public var description: String {
        switch scope {
        case .connection: "\(kind.words) (\(code), connection)"
        case .stream(let stream): "\(kind.words) (\(code), stream \(stream))"
        case .call: kind.words
        }
    }
}

extension HTTP2Error {
    /// The kinds of errors.
    public enum Kind: Error, Hashable, CaseIterable {
        // Frames (RFC 9113 §4 and §6).
        case badPreface, firstFrameNotSettings, frameTooLarge, frameSize, paddingTooLong, streamRequired
        case connectionFrameOnStream, blockInterrupted, unexpectedContinuation, badPromisedStream, pushRefused
        case zeroIncrement, badSetting, unexpectedSettingsAcknowledgement
        // Streams and flow control (§5).
        case idleStream, closedStream, badStreamID, windowExceeded, windowOverflow
        // Messages (§8).
        case compression, headerListTooLarge, malformedFieldName, malformedFieldValue, connectionField
        case malformedPseudoField, missingPseudoField, malformedStatus, switchingProtocols, malformedContentLength
        case contentLengthMismatch, bodyTooShort
        case interimEndsStream, tooManyInterimResponses, trailersWithoutEnd, dataBeforeHead
        case requestInResponse
        // Floods (§10.5).
        case controlFlood, headerFragmentFlood, pendingControlFlood
        // Calls of this side that are refused.
        case connectionClosing, streamIDsExhausted, streamLimitReached, connectionFieldSent, headerListTooLong
        case unknownStream, sendClosed, headNotSent, headSent, windowTooSmall, invalidValue, wrongRole
    }
}

extension HTTP2Error.Kind {
    /// The code that the RFC requires.
    var code: HTTP2ErrorCode {
        switch self {
        case .frameTooLarge, .frameSize: .frameSizeError
        case .closedStream: .streamClosed
        case .windowExceeded, .windowOverflow: .flowControlError
        case .compression: .compressionError
        case .headerListTooLarge, .tooManyInterimResponses, .controlFlood, .headerFragmentFlood, .pendingControlFlood:
            .enhanceYourCalm
        case .connectionClosing, .streamIDsExhausted, .streamLimitReached, .connectionFieldSent, .headerListTooLong,
            .unknownStream, .sendClosed, .headNotSent, .headSent, .windowTooSmall, .invalidValue, .wrongRole:
            .internalError
        case _: .protocolError
        }
    }

    var words: String {
        switch self {
        case .badPreface: "the peer did not begin with the HTTP/2 preface"
        case .firstFrameNotSettings: "the first frame is not SETTINGS"
        case .frameTooLarge: "a frame is larger than was allowed"
        case .frameSize: "a frame has a length that its type cannot have"
        case .paddingTooLong: "a frame's padding is longer than the frame"
        case .streamRequired: "a frame that belongs to a stream came without one"
        case .connectionFrameOnStream: "a frame that belongs to the connection came on a stream"
        case .blockInterrupted: "a header block was interrupted by another frame"
        case .unexpectedContinuation: "a CONTINUATION frame continues nothing"
        case .badPromisedStream: "a promised stream has a number that it cannot have"
        case .pushRefused: "the server pushes though push is switched off"
        case .zeroIncrement: "a window is enlarged by nothing"
        case .badSetting: "a setting has a value that it cannot have"
        case .unexpectedSettingsAcknowledgement: "settings are acknowledged that were never sent"
        case .idleStream: "a frame came on a stream that was never opened"
        case .closedStream: "a frame came on a stream that had ended"
        case .badStreamID: "a stream is opened with a number that it cannot have"
        case .windowExceeded: "more bytes were sent than the window allows"
        case .windowOverflow: "a flow-control window grew beyond 2^31 - 1 bytes"
        case .compression: "a header block cannot be decoded"
        case .headerListTooLarge: "the header fields are larger or more than allowed"
        case .malformedFieldName: "a field name is empty, has a capital letter or a byte that is not allowed"
        case .malformedFieldValue: "a field value has a byte that is not allowed, or space around it in a request"
        case .connectionField: "a field describes the connection, which HTTP/2 does not allow"
        case .malformedPseudoField: "a pseudo-header field is unknown, repeated, out of place or invalid"
        case .missingPseudoField: "a pseudo-header field is missing"
        case .malformedStatus: "the status is not three digits"
        case .switchingProtocols: "the response is 101 (Switching Protocols), which HTTP/2 does not have"
        case .malformedContentLength: "content-length is not a number, or several that differ"
        case .contentLengthMismatch: "the body is longer than content-length says"
        case .bodyTooShort: "the body ended before it was as long as content-length says"
        case .interimEndsStream: "an interim response ends the stream"
        case .tooManyInterimResponses: "there are more interim responses than allowed"
        case .trailersWithoutEnd: "trailer fields do not end the stream"
        case .dataBeforeHead: "a body began before the header fields"
        case .requestInResponse: "a response has the fields of a request, or the reverse"
        case .controlFlood: "the peer sends frames that do nothing, too many of them"
        case .headerFragmentFlood: "a header block is in too many frames"
        case .pendingControlFlood: "the peer asks for answers faster than it reads them"
        case .connectionClosing: "the connection takes no further stream"
        case .streamIDsExhausted: "the connection has no stream numbers left"
        case .streamLimitReached: "the peer allows no more streams at once"
        case .connectionFieldSent: "a field describes the connection, which HTTP/2 does not allow"
        case .headerListTooLong: "the header fields are longer than the peer takes"
        case .unknownStream: "there is no such stream, or it has ended"
        case .sendClosed: "this side of the stream has ended"
        case .headNotSent: "the header fields have to be sent first"
        case .headSent: "the header fields have been sent already"
        case .windowTooSmall: "more bytes were to be sent than the windows allow"
        case .invalidValue: "a value cannot be sent"
        case .wrongRole: "that is for the other role of a connection"
        }
    }
}

extension HTTP2Error: LayerError {
    package var category: LayerErrorCategory {
        switch scope {
        // As over HTTP/1.1, where the connection ends before the body does.
        case .stream where kind == .bodyTooShort: .connectionLost
        case .connection, .stream: .unparsableResponse
        case .call: .invalidRequest
        }
    }
}

/// The reason for the end of a stream or connection: the number in RST_STREAM and GOAWAY (RFC 9113 §7).
///
/// A peer may send numbers that the RFC does not define. They are kept.
public struct HTTP2ErrorCode: RawRepresentable, Sendable, Hashable {
    /// The number on the wire.
    public var rawValue: UInt32

    /// A code with any number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// NO_ERROR: not an error; the end of a connection that is no longer needed.
    public static let noError = Self(rawValue: 0x0)
    /// PROTOCOL_ERROR: the peer violated a rule that has no code of its own.
    public static let protocolError = Self(rawValue: 0x1)
    /// INTERNAL_ERROR: the endpoint itself failed.
    public static let internalError = Self(rawValue: 0x2)
    /// FLOW_CONTROL_ERROR: the peer sent more than the window allows, or a window became too large.
    public static let flowControlError = Self(rawValue: 0x3)
    /// SETTINGS_TIMEOUT: settings were not acknowledged in time.
    public static let settingsTimeout = Self(rawValue: 0x4)
    /// STREAM_CLOSED: a frame arrived on a stream that had ended.
    public static let streamClosed = Self(rawValue: 0x5)
    /// FRAME_SIZE_ERROR: a frame's length is not valid.
    public static let frameSizeError = Self(rawValue: 0x6)
    /// REFUSED_STREAM: the request was not processed, and may be sent again (RFC 9113 §8.7).
    public static let refusedStream = Self(rawValue: 0x7)
    /// CANCEL: the stream is no longer needed.
    public static let cancel = Self(rawValue: 0x8)
    /// COMPRESSION_ERROR: the header compression state is lost.
    public static let compressionError = Self(rawValue: 0x9)
    /// CONNECT_ERROR: the connection of a tunnel failed.
    public static let connectError = Self(rawValue: 0xa)
    /// ENHANCE_YOUR_CALM: the peer causes too much load.
    public static let enhanceYourCalm = Self(rawValue: 0xb)
    /// INADEQUATE_SECURITY: the connection's TLS does not meet the requirements.
    public static let inadequateSecurity = Self(rawValue: 0xc)
    /// HTTP_1_1_REQUIRED: the request has to be sent over HTTP/1.1.
    public static let http11Required = Self(rawValue: 0xd)
}

extension HTTP2ErrorCode: CustomStringConvertible {
    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The RFC's name; the number if it has none.
    public var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "error code \(rawValue)"
    }
}
