import LoadingKitPrimitives

/// The reason why received bytes are not HTTP/1.1, or why a message cannot be sent.
public struct HTTP1Error: Error, Sendable, Equatable {
    /// The kinds of errors.
    public enum Kind: Error, Equatable {
        /// The first line of a response is not `HTTP/1.x`, three digits and a reason.
        case malformedStatusLine
        /// The first line of a request is not a method, a target and `HTTP/1.x`, or a method or target cannot be sent.
        case malformedRequestLine
        /// The peer uses a version of HTTP other than 1.x.
        case unsupportedVersion
        /// A field's name is empty or has a byte that is not allowed there.
        case invalidFieldName
        /// A field's value has a control character: NUL, a CR without LF, or another.
        case invalidFieldValue
        /// A request's field continues on the next line (RFC 9112 §5.2).
        case obsoleteLineFolding
        /// `Content-Length` is not a number of bytes.
        case malformedContentLength
        /// `Content-Length` occurs more than once, with different numbers.
        case conflictingContentLength
        /// `Transfer-Encoding` cannot be interpreted, or does not end with `chunked` in a request.
        case invalidTransferEncoding
        /// A request has `Content-Length` and `Transfer-Encoding` (request smuggling, RFC 9112 §11.2).
        case lengthAndTransferEncoding
        /// A request has no `Host`, several, or one that is not a valid host (RFC 9112 §3.2).
        case invalidHost
        /// A request's target has none of the four forms, or not the form that its method requires (RFC 9112 §3.2).
        case invalidTarget
        /// The head, or the trailer section, is longer than ``HTTP1Limits/headBytes``.
        case headTooLarge
        /// The first line is longer than ``HTTP1Limits/startLineBytes``.
        case startLineTooLong
        /// There are more fields than ``HTTP1Limits/fieldCount``.
        case tooManyFields
        /// There are more interim responses than ``HTTP1Limits/interimResponses``.
        case tooManyInterimResponses
        /// A chunk does not begin with its size in hexadecimal digits and CRLF.
        case invalidChunkSize
        /// A chunk's size is beyond 64 bits.
        case chunkSizeOverflow
        /// A chunk's extensions are longer than ``HTTP1Limits/chunkExtensionBytes``.
        case chunkExtensionTooLong
        /// A chunk's bytes are not followed by CRLF.
        case missingChunkEnd
        /// The peer closed the connection in the middle of a message.
        case closedEarly(ClosedEarly)
        /// Bytes arrived where none are allowed: after the last message, or without a request.
        case unexpectedBytes
        /// A call tried to send a request while another one is on its way.
        case connectionBusy
        /// A call tried to send on a connection that accepts no further request.
        case connectionClosed
        /// A call tried to send body bytes, but no request with a body is on its way.
        case noBodyExpected
        /// A call tried to send more body bytes than `Content-Length` announced.
        case bodyTooLong
        /// A call tried to finish the body while this number of the bytes announced by `Content-Length` is missing.
        case bodyTooShort(missing: UInt64)
        /// A call tried to send trailer fields with a body that is not chunked.
        case trailersNeedChunked
    }

    /// The part of a message in which the connection ended.
    public enum ClosedEarly: Sendable, Equatable {
        /// Before the first byte of any response: the server may not have received the request.
        case beforeResponse
        /// After an interim response, and before the first byte of the final one.
        case beforeFinalResponse
        /// In the first line or the fields.
        case inHead
        /// In a body of known length, of which this number of bytes is missing.
        case inBody(missing: UInt64)
        /// In a chunked body, before its last chunk.
        case inChunkedBody
        /// In the trailer section.
        case inTrailers
    }

    /// The kind of the error.
    public var kind: Kind

    /// The offset of the byte at which the error was found, from the first byte of the message; 0 if bytes are not the
    /// reason.
    public var offset: Int

    /// Makes an error.
    public init(_ kind: Kind, offset: Int = 0) {
        self.kind = kind
        self.offset = offset
    }
}

extension HTTP1Error: CustomStringConvertible {
    /// The error in plain words, with the offset of the byte at which it was found.
    public var description: String {
        switch kind {
        case .connectionBusy, .connectionClosed, .noBodyExpected, .bodyTooLong, .bodyTooShort, .trailersNeedChunked:
            "\(kind)"
        case .malformedStatusLine, .malformedRequestLine, .unsupportedVersion, .invalidFieldName, .invalidFieldValue,
            .obsoleteLineFolding, .malformedContentLength, .conflictingContentLength, .invalidTransferEncoding,
            .lengthAndTransferEncoding, .invalidHost, .invalidTarget, .headTooLarge, .startLineTooLong, .tooManyFields,
            .tooManyInterimResponses, .invalidChunkSize, .chunkSizeOverflow, .chunkExtensionTooLong, .missingChunkEnd,
            .closedEarly, .unexpectedBytes:
            "\(kind) (byte \(offset) of the message)"
        }
    }
}

extension HTTP1Error.Kind: CustomStringConvertible {
    /// The error in words.
    public var description: String {
        switch self {
        case .malformedStatusLine: "the first line is not an HTTP/1.x status line"
        case .malformedRequestLine: "the first line is not an HTTP/1.x request line"
        case .unsupportedVersion: "the version of HTTP is not 1.x"
        case .invalidFieldName: "a field name is empty or contains a byte that is not allowed"
        case .invalidFieldValue: "a field value contains a control character"
        case .obsoleteLineFolding: "a field is continued on the next line"
        case .malformedContentLength: "Content-Length is not a number of bytes"
        case .conflictingContentLength: "Content-Length has several values that differ"
        case .invalidTransferEncoding: "Transfer-Encoding is not understood"
        case .lengthAndTransferEncoding: "the request has both Content-Length and Transfer-Encoding"
        case .invalidHost: "the request does not have exactly one valid Host field"
        case .invalidTarget: "the request target is not valid for the method"
        case .headTooLarge: "the header or trailer section is larger than allowed"
        case .startLineTooLong: "the first line is longer than allowed"
        case .tooManyFields: "there are more fields than allowed"
        case .tooManyInterimResponses: "there are more interim responses than allowed"
        case .invalidChunkSize: "a chunk does not begin with a hexadecimal size and CRLF"
        case .chunkSizeOverflow: "a chunk size does not fit in 64 bits"
        case .chunkExtensionTooLong: "a chunk extension is longer than allowed"
        case .missingChunkEnd: "the bytes of a chunk are not followed by CRLF"
        case .closedEarly(let place): "the connection was closed \(place)"
        case .unexpectedBytes: "bytes arrived that belong to no message"
        case .connectionBusy: "the connection is busy with another request"
        case .connectionClosed: "the connection carries no further request"
        case .noBodyExpected: "no request body is being sent"
        case .bodyTooLong: "the body is longer than its Content-Length"
        case .bodyTooShort(let missing): "the body is \(missing) bytes shorter than its Content-Length"
        case .trailersNeedChunked: "trailer fields need a chunked body"
        }
    }
}

extension HTTP1Error.ClosedEarly: CustomStringConvertible {
    /// The part of the response that was reached, in words.
    public var description: String {
        switch self {
        case .beforeResponse: "before the response began"
        case .beforeFinalResponse: "between an interim response and the final one"
        case .inHead: "in the header section"
        case .inBody(let missing): "with \(missing) bytes of the body missing"
        case .inChunkedBody: "before the last chunk of the body"
        case .inTrailers: "in the trailer section"
        }
    }
}

extension HTTP1Error: LayerError {
    package var category: LayerErrorCategory {
        switch kind {
        case .closedEarly: .connectionLost
        case .malformedRequestLine, .invalidHost, .invalidTarget, .connectionBusy, .connectionClosed, .noBodyExpected,
            .trailersNeedChunked, .lengthAndTransferEncoding:
            .invalidRequest
        case .bodyTooLong, .bodyTooShort: .wrongBodyLength
        case .malformedStatusLine, .unsupportedVersion, .invalidFieldName, .invalidFieldValue, .obsoleteLineFolding,
            .malformedContentLength, .conflictingContentLength, .invalidTransferEncoding, .headTooLarge,
            .startLineTooLong, .tooManyFields, .tooManyInterimResponses, .invalidChunkSize, .chunkSizeOverflow,
            .chunkExtensionTooLong, .missingChunkEnd, .unexpectedBytes:
            .unparsableResponse
        }
    }
}
