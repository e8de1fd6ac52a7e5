import LoadingKitPrimitives

/// The status line and fields of a response (RFC 9112 §4).
public struct ResponseHead: Sendable {
    /// The server's version.
    public var version: HTTPVersion
    /// The status code, 100 to 999.
    public var status: Int
    /// The header fields, in order.
    public var fields: HTTPFields

    @usableFromInline let reasonText: Reason

    /// Makes a head, for ``ResponseWriter`` and for tests.
    public init(version: HTTPVersion = .http1_1, status: Int, reason: String = "", fields: HTTPFields = HTTPFields()) {
        self.init(version: version, status: status, reasonText: Reason(reason), fields: fields)
    }

    /// A head that was read.
    @inlinable
    @inline(__always)
    init(_ line: StartLine, _ fields: HTTPFields) {
        self.init(
            version: line.version, status: line.status, reasonText: Reason(line, of: fields), fields: fields)
    }

    @inlinable
    @inline(__always)
    init(version: HTTPVersion, status: Int, reasonText: Reason, fields: HTTPFields) {
        self.version = version
        self.status = status
        self.reasonText = reasonText
        self.fields = fields
    }

    /// The text after the status code. It is often empty, and has no meaning for programs.
    public var reason: String { reasonText.string }
}

extension ResponseHead: Equatable {
    /// Whether version, status, reason and fields are the same, in the same order.
    public static func == (a: ResponseHead, b: ResponseHead) -> Bool {
        a.version == b.version && a.status == b.status && a.reason == b.reason && a.fields == b.fields
    }
}

/// The parts of a message's first line, as ranges of the head's bytes.
@usableFromInline
struct StartLine: Sendable {
    /// The digit after `HTTP/1.`.
    @usableFromInline var minorVersion: UInt8 = 0
    @usableFromInline var status = 0
    @inlinable var version: HTTPVersion { HTTPVersion(major: 1, minor: minorVersion) }
    /// The reason of a status line.
    @usableFromInline var reason = 0..<0
    /// Whether the reason is known to be the usual one for the status.
    @usableFromInline var isReasonUsual = false
    var method = 0..<0
    var target = 0..<0
}

/// The reason phrase of a status line. The usual phrase is not stored: it is the same for all responses with a status.
@usableFromInline
struct Reason: Sendable {
    /// The reason's bytes in a head; nil for the usual reason of a status.
    @usableFromInline let text: HeadText?
    @usableFromInline let status: UInt16

    /// Any text.
    init(_ text: String) {
        self.text = HeadText(text)
        status = 0
    }

    /// The reason of a status line. `fields` contains its bytes.
    @inlinable
    @inline(__always)
    init(_ line: StartLine, of fields: HTTPFields) {
        text = line.isReasonUsual ? nil : HeadText(of: fields, line.reason)
        status = UInt16(truncatingIfNeeded: line.status)
    }

    var string: String { text?.string ?? Self.phrase(Int(status)).description }

    /// Whether these bytes are the reason that nearly all servers send with a status.
    static func isUsual(_ bytes: UnsafeRawBufferPointer, _ status: Int) -> Bool {
        Bytes.areEqual(bytes, phrase(status))
    }

    /// The usual reason phrase (RFC 9110 §15); empty for other statuses, whose reason is often omitted.
    private static func phrase(_ status: Int) -> StaticString {
        switch status {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case _: ""
        }
    }
}
