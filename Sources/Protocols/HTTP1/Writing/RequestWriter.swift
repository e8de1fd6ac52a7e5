import LoadingKitPrimitives

/// Writes requests (RFC 9112 §3). ``ChunkWriter`` writes the framing of a chunked body.
public struct RequestWriter: Sendable {
    /// Makes a writer; it has no state.
    public init() {}

    /// Appends the request line, the unchanged fields, and the empty line.
    ///
    /// - Parameters:
    ///   - method: A token, for example `GET`.
    ///   - target: Visible ASCII, already percent-encoded.
    ///   - fields: All fields, including `Host` and those of the framing.
    ///   - version: HTTP/1.1, unless the server is known to require HTTP/1.0.
    /// - Throws: ``HTTP1Error`` if the method, the target, a name or a value (CR, LF, NUL or another control character)
    ///   is not allowed. No bytes are appended then.
    public func writeHead(
        method: String, target: String, version: HTTPVersion = .http1_1, fields: HTTPFields,
        into output: inout [UInt8]
    ) throws(HTTP1Error) {
        try HeadWriter.write(into: &output) { (output) throws(HTTP1Error.Kind) in
            try Self.appendRequestLine(method: method, target: target, version: version, to: &output)
            try HeadWriter.appendFields(fields, to: &output)
            HeadWriter.append("\r\n", to: &output)
        }
    }

    /// Like ``writeHead(method:target:version:fields:into:)``, with framing fields made from `framing`. Framing fields
    /// in `fields` are left out.
    ///
    /// - Parameters:
    ///   - version: HTTP/1.1, unless the server is known to require HTTP/1.0, which has no chunked bodies.
    ///   - first: Fields that go before the others.
    /// - Throws: ``HTTP1Error`` as above; nothing is appended then.
    public func writeHead(
        method: String, target: String, version: HTTPVersion = .http1_1, first: HTTPFields = HTTPFields(),
        fields: HTTPFields, framing: RequestBodyFraming, into output: inout [UInt8]
    ) throws(HTTP1Error) {
        try HeadWriter.write(into: &output) { (output) throws(HTTP1Error.Kind) in
            try Self.appendRequestLine(method: method, target: target, version: version, to: &output)
            try HeadWriter.appendFields(first, to: &output)
            try HeadWriter.appendFields(fields, to: &output) { $0 == .contentLength || $0 == .transferEncoding }
            Self.appendFraming(framing, to: &output)
            HeadWriter.append("\r\n", to: &output)
        }
    }

    private static func appendRequestLine(
        method: String, target: String, version: HTTPVersion, to output: inout [UInt8]
    ) throws(HTTP1Error.Kind) {
        try HeadWriter.appendMethod(method, to: &output)
        output.append(ASCII.space)
        try HeadWriter.appendTarget(target, to: &output)
        output.append(ASCII.space)
        try HeadWriter.appendVersion(version, to: &output)
        HeadWriter.append("\r\n", to: &output)
    }

    private static func appendFraming(_ framing: RequestBodyFraming, to output: inout [UInt8]) {
        switch framing {
        case .none:
            break
        case .length(let length):
            HeadWriter.append("Content-Length: ", to: &output)
            HeadWriter.appendDecimal(length, to: &output)
            HeadWriter.append("\r\n", to: &output)
        case .chunked:
            HeadWriter.append("Transfer-Encoding: chunked\r\n", to: &output)
        }
    }
}

/// The framing of a request's body (RFC 9112 §6.3).
public enum RequestBodyFraming: Sendable, Equatable {
    /// No body, and no field that announces one. For methods that usually have a body, use `.length(0)` (RFC 9110
    /// §8.6).
    case none
    /// A body with this number of bytes, with `Content-Length`.
    case length(UInt64)
    /// A body in chunks, with `Transfer-Encoding: chunked`, if the length is not known in advance.
    case chunked
}
