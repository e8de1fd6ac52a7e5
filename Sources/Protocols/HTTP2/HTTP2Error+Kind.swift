extension HTTP2Error {
    /// What is wrong.
    public enum Kind: Error, Hashable, CaseIterable {
        // Frames (RFC 9113 §4 and §6).
        case badPreface, firstFrameNotSettings, frameTooLarge, frameSize, paddingTooLong, streamRequired
        case connectionFrameOnStream, blockInterrupted, unexpectedContinuation, badPromisedStream, pushRefused
        case zeroIncrement, badSetting, unexpectedSettingsAcknowledgement
        // Streams and flow control (§5).
        case idleStream, closedStream, badStreamID, windowExceeded, windowOverflow, tooManyStreams
        // Messages (§8).
        case compression, headerListTooLarge, malformedFieldName, malformedFieldValue, connectionField
        case malformedPseudoField, missingPseudoField, malformedStatus, malformedContentLength, contentLengthMismatch
        case interimEndsStream, tooManyInterimResponses, trailersWithoutEnd, unexpectedTrailers, dataBeforeHead
        case requestInResponse
        // Floods (§10.5).
        case controlFlood, headerFragmentFlood, pendingControlFlood
        // What this side asked for.
        case connectionClosing, streamIDsExhausted, streamLimitReached, connectionFieldSent, headerListTooLong
        case unknownStream, sendClosed, headNotSent, headSent, windowTooSmall, invalidValue, wrongRole
    }
}

extension HTTP2Error.Kind {
    /// The code that the RFC asks for.
    var code: HTTP2ErrorCode {
        switch self {
        case .badPreface, .firstFrameNotSettings, .paddingTooLong, .streamRequired, .connectionFrameOnStream,
            .blockInterrupted, .unexpectedContinuation, .badPromisedStream, .pushRefused, .zeroIncrement, .badSetting,
            .unexpectedSettingsAcknowledgement, .idleStream, .badStreamID, .malformedFieldName, .malformedFieldValue,
            .connectionField, .malformedPseudoField, .missingPseudoField, .malformedStatus, .malformedContentLength,
            .contentLengthMismatch, .interimEndsStream, .trailersWithoutEnd, .unexpectedTrailers, .dataBeforeHead,
            .requestInResponse:
            .protocolError
        case .frameTooLarge, .frameSize: .frameSizeError
        case .closedStream: .streamClosed
        case .windowExceeded, .windowOverflow: .flowControlError
        case .tooManyStreams: .refusedStream
        case .compression: .compressionError
        case .headerListTooLarge, .tooManyInterimResponses, .controlFlood, .headerFragmentFlood, .pendingControlFlood:
            .enhanceYourCalm
        case .connectionClosing, .streamIDsExhausted, .streamLimitReached, .connectionFieldSent, .headerListTooLong,
            .unknownStream, .sendClosed, .headNotSent, .headSent, .windowTooSmall, .invalidValue, .wrongRole:
            .internalError
        }
    }

    var fault: HTTP2Error.Fault {
        switch self {
        case .badPreface, .firstFrameNotSettings, .frameTooLarge, .frameSize, .paddingTooLong, .streamRequired,
            .connectionFrameOnStream, .blockInterrupted, .unexpectedContinuation, .badPromisedStream, .pushRefused,
            .zeroIncrement, .badSetting, .unexpectedSettingsAcknowledgement, .idleStream, .closedStream, .badStreamID,
            .windowExceeded, .windowOverflow, .tooManyStreams, .compression, .headerListTooLarge, .malformedFieldName,
            .malformedFieldValue, .connectionField, .malformedPseudoField, .missingPseudoField, .malformedStatus,
            .malformedContentLength, .contentLengthMismatch, .interimEndsStream, .tooManyInterimResponses,
            .trailersWithoutEnd, .unexpectedTrailers, .dataBeforeHead, .requestInResponse, .controlFlood,
            .headerFragmentFlood, .pendingControlFlood:
            .peer
        case .connectionClosing, .streamIDsExhausted, .streamLimitReached, .connectionFieldSent, .headerListTooLong,
            .unknownStream, .sendClosed, .headNotSent, .headSent, .windowTooSmall, .invalidValue, .wrongRole:
            .user
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
        case .tooManyStreams: "more streams are open than was allowed"
        case .compression: "a header block cannot be decoded"
        case .headerListTooLarge: "the header fields are larger or more than allowed"
        case .malformedFieldName: "a field name is empty, has a capital letter or a byte that is not allowed"
        case .malformedFieldValue: "a field value has a byte that is not allowed, or white space around it"
        case .connectionField: "a field describes the connection, which HTTP/2 does not allow"
        case .malformedPseudoField: "a pseudo-header field is unknown, repeated, out of place or invalid"
        case .missingPseudoField: "a pseudo-header field is missing"
        case .malformedStatus: "the status is not three digits"
        case .malformedContentLength: "content-length is not a number, or several that differ"
        case .contentLengthMismatch: "the body is not as long as content-length says"
        case .interimEndsStream: "an interim response ends the stream"
        case .tooManyInterimResponses: "there are more interim responses than allowed"
        case .trailersWithoutEnd: "trailer fields do not end the stream"
        case .unexpectedTrailers: "header fields came after the trailer fields"
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
