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
