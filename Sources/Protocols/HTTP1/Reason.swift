import LoadingKitPrimitives

/// The reason phrase of a status line. The usual one is not kept: it is the same for all responses of a status.
@usableFromInline
struct Reason: Sendable {
    /// The bytes of a head that it is; none where it is the usual reason of a status.
    @usableFromInline let text: HeadText?
    @usableFromInline let status: UInt16

    /// Any text.
    init(_ text: String) {
        self.text = HeadText(text)
        status = 0
    }

    /// The reason of a status line that `fields` came with, among whose bytes it is.
    @inlinable
    @inline(__always)
    init(_ line: StartLine, of fields: HTTPFields) {
        text = line.isReasonUsual ? nil : HeadText(of: fields, line.reason)
        status = UInt16(truncatingIfNeeded: line.status)
    }

    var string: String { text?.string ?? Self.phrase(Int(status)).description }

    /// Whether these bytes are what nearly all servers send with a status.
    static func isUsual(_ bytes: UnsafeRawBufferPointer, _ status: Int) -> Bool {
        let phrase = phrase(status)
        guard bytes.count == phrase.utf8CodeUnitCount else { return false }
        for index in 0..<bytes.count where bytes[index] != phrase.utf8Start[index] { return false }
        return true
    }

    /// RFC 9110 §15; empty for other statuses, whose reason is often left out.
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
