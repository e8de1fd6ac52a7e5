import LoadingKitPrimitives

/// Why bytes received are not HTTP/1.1, or why something cannot be sent.
public struct HTTP1Error: Error, Sendable, Equatable {
    /// What is wrong.
    public enum Kind: Error, Equatable {
        /// The first line of a response is not `HTTP/1.x`, three digits and a reason.
        case malformedStatusLine
        /// The first line of a request is not a method, a target and `HTTP/1.x`, or a method or target cannot be sent.
        case malformedRequestLine
        /// The peer speaks a version of HTTP other than 1.x.
        case unsupportedVersion
        /// A field's name is empty or has a byte that is not allowed there.
        case invalidFieldName
        /// A field's value has a control character: NUL, a CR without LF, or another.
        case invalidFieldValue
        /// A request's field goes on in the next line (RFC 9112 §5.2).
        case obsoleteLineFolding
        /// `Content-Length` is not a number of bytes.
        case malformedContentLength
        /// `Content-Length` is given more than once, with different numbers.
        case conflictingContentLength
        /// `Transfer-Encoding` cannot be understood, or does not end with `chunked` in a request.
        case invalidTransferEncoding
        /// A request has `Content-Length` and `Transfer-Encoding` (request smuggling, RFC 9112 §11.2).
        case lengthAndTransferEncoding
        /// A request has no `Host`, several, or one that is no host (RFC 9112 §3.2).
        case invalidHost
        /// A request's target has none of the four forms, or not the one that its method needs (RFC 9112 §3.2).
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
        /// Bytes came where none may: after the last message, or in answer to nothing.
        case unexpectedBytes
        /// A request was to be sent while another is on its way.
        case connectionBusy
        /// Something was to be sent on a connection that carries no further request.
        case connectionClosed
        /// Bytes of a body were to be sent, but no request with a body is on its way.
        case noBodyExpected
        /// More bytes of a body were to be sent than `Content-Length` promised.
        case bodyTooLong
        /// The body was to be finished with this many bytes of `Content-Length` missing.
        case bodyTooShort(missing: UInt64)
        /// Trailer fields were to be sent with a body that is not chunked.
        case trailersNeedChunked
    }

    /// Where in a message the connection ended.
    public enum ClosedEarly: Sendable, Equatable {
        /// Before the first byte of any response: the server may not have seen the request.
        case beforeResponse
        /// After an interim response, and before the first byte of the final one.
        case beforeFinalResponse
        /// In the first line or the fields.
        case inHead
        /// In a body of known length, of which this many bytes are missing.
        case inBody(missing: UInt64)
        /// In a chunked body, before its last chunk.
        case inChunkedBody
        /// In the trailer section.
        case inTrailers
    }

    /// What is wrong.
    public var kind: Kind

    /// The byte at which it was seen, counted from the first byte of the message; 0 where bytes are not the reason.
    public var offset: Int

    /// Makes an error.
    public init(_ kind: Kind, offset: Int = 0) {
        self.kind = kind
        self.offset = offset
    }
}

extension HTTP1Error: CustomStringConvertible {
    /// The error in plain words, with the byte of the message where it was seen.
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
    /// What is wrong, in words.
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
    /// How far the response had come, in words.
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
