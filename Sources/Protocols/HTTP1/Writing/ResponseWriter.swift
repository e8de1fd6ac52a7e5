import LoadingKitPrimitives

/// Writes responses (RFC 9112 §4). ``ChunkWriter`` writes the framing of a chunked body.
public struct ResponseWriter: Sendable {
    /// Makes a writer; it has no state.
    public init() {}

    /// Appends the status line, the unchanged fields, and the empty line.
    ///
    /// - Parameters:
    ///   - status: 100 to 999.
    ///   - reason: Text for people; empty by default.
    ///   - fields: All fields, including those of the framing.
    ///   - version: HTTP/1.1 by default.
    /// - Throws: ``HTTP1Error`` if the status, the reason, a name or a value (CR, LF, NUL or another control character)
    ///   is not allowed. No bytes are appended then.
    public func writeHead(
        status: Int, reason: String = "", version: HTTPVersion = .http1_1, fields: HTTPFields,
        into output: inout [UInt8]
    ) throws(HTTP1Error) {
        try HeadWriter.write(into: &output) { (output) throws(HTTP1Error.Kind) in
            guard 100...999 ~= status else { throw .malformedStatusLine }
            try HeadWriter.appendVersion(version, to: &output)
            output.append(ASCII.space)
            HeadWriter.appendDecimal(UInt64(status), to: &output)
            output.append(ASCII.space)
            try HeadWriter.appendReason(reason, to: &output)
            HeadWriter.append("\r\n", to: &output)
            try HeadWriter.appendFields(fields, to: &output)
            HeadWriter.append("\r\n", to: &output)
        }
    }

    /// Like ``writeHead(status:reason:version:fields:into:)``, with the parts of `head`.
    public func write(_ head: ResponseHead, into output: inout [UInt8]) throws(HTTP1Error) {
        try writeHead(
            status: head.status, reason: head.reason, version: head.version, fields: head.fields, into: &output)
    }
}

/// Writes the framing around the bytes of a chunked body (RFC 9112 §7.1), so that the bytes themselves need no copy.
public enum ChunkWriter {
    /// Appends the line before the `count` bytes of a chunk: its size and CRLF. Appends nothing if `count` is not
    /// positive, as an empty chunk would end the body.
    public static func writeHeader(count: Int, into output: inout [UInt8]) {
        guard count > 0 else { return }
        HeadWriter.appendHexadecimal(UInt64(count), to: &output)
        HeadWriter.append("\r\n", to: &output)
    }

    /// Appends the end of a chunk: CRLF.
    public static func writeEnd(into output: inout [UInt8]) {
        HeadWriter.append("\r\n", to: &output)
    }

    /// Appends the last, empty chunk and the trailer section. Fields that a recipient would drop, such as
    /// `Content-Length`, are left out.
    ///
    /// - Throws: ``HTTP1Error`` if a name or value is not allowed. No bytes are appended then.
    public static func writeLast(
        trailers: HTTPFields = HTTPFields(), into output: inout [UInt8]
    ) throws(HTTP1Error) {
        try HeadWriter.write(into: &output) { (output) throws(HTTP1Error.Kind) in
            HeadWriter.append("0\r\n", to: &output)
            try HeadWriter.appendFields(trailers, to: &output) { Trailers.forbidden.contains($0) }
            HeadWriter.append("\r\n", to: &output)
        }
    }
}
