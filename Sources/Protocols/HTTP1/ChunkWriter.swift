import LoadingKitPrimitives

/// Writes what a chunked body has around its bytes (RFC 9112 §7.1), so that the bytes themselves need no copy.
public enum ChunkWriter {
    /// Appends what comes before the `count` bytes of a chunk: its size and CRLF. Nothing if `count` is not positive,
    /// as an empty chunk would end the body.
    public static func writeHeader(count: Int, into output: inout [UInt8]) {
        guard count > 0 else { return }
        HeadWriter.appendHexadecimal(UInt64(count), to: &output)
        HeadWriter.append("\r\n", to: &output)
    }

    /// Appends what comes after the bytes of a chunk: CRLF.
    public static func writeEnd(into output: inout [UInt8]) {
        HeadWriter.append("\r\n", to: &output)
    }

    /// Appends the last, empty chunk and the trailer section. Fields that a recipient would drop, such as
    /// `Content-Length`, are left out.
    ///
    /// - Throws: ``HTTP1Error`` when a name or value is not allowed; nothing is appended then.
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
