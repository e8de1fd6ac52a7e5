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
