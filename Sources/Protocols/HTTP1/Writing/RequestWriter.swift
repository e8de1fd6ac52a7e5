import LoadingKitPrimitives

/// Writes requests (RFC 9112 §3). ``ChunkWriter`` writes what a chunked body needs.
public struct RequestWriter: Sendable {
    /// Makes a writer; it has no state.
    public init() {}

    /// Appends the request line, the fields as they are, and the empty line.
    ///
    /// - Parameters:
    ///   - method: A token, for example `GET`.
    ///   - target: Visible ASCII: what must be percent-encoded is so already.
    ///   - fields: All fields, `Host` and those of the framing among them.
    ///   - version: HTTP/1.1, unless the server is known to need HTTP/1.0.
    /// - Throws: ``HTTP1Error`` when the method, the target, a name or a value (CR, LF, NUL or another control
    ///   character) is not allowed; nothing is appended then.
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

    /// As ``writeHead(method:target:version:fields:into:)``, with the fields of the framing made from `framing`; those
    /// in `fields` are left out.
    ///
    /// - Parameter first: Fields that go before the others.
    /// - Throws: ``HTTP1Error`` as above; nothing is appended then.
    public func writeHead(
        method: String, target: String, first: HTTPFields = HTTPFields(), fields: HTTPFields,
        framing: RequestBodyFraming, into output: inout [UInt8]
    ) throws(HTTP1Error) {
        try HeadWriter.write(into: &output) { (output) throws(HTTP1Error.Kind) in
            try Self.appendRequestLine(method: method, target: target, version: .http1_1, to: &output)
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

/// How a request's body is sent (RFC 9112 §6.3).
public enum RequestBodyFraming: Sendable, Equatable {
    /// No body, and no field that says so. For methods that usually have one, send `.length(0)` (RFC 9110 §8.6).
    case none
    /// A body of this many bytes, with `Content-Length`.
    case length(UInt64)
    /// A body in chunks, with `Transfer-Encoding: chunked`, for a length not known before.
    case chunked
}
