import Foundation
import LoadingKitPrimitives

/// The head of an HTTP response: status and fields.
///
/// Follows Apple's `HTTPURLResponse`. The fields are kept as they were received; strings and dictionaries are made at
/// their first use.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {  // `let`s, and a Guarded
    /// The status code (RFC 9110 §15).
    public let statusCode: Int

    package let fields: HTTPFields

    package let httpVersion: String

    /// The values that are made, or received, after the response was made.
    struct Later {
        var dictionary: [String: String]?
        var trailers: HTTPFields?
    }

    let later = Guarded(Later())

    /// The response from which this one was made. Both have the same trailer fields.
    let origin: HTTPURLResponse?

    /// A response from a connection. Its other properties are computed at their first use.
    package init(
        url: URL, statusCode: Int, httpVersion: String, fields: HTTPFields, expectedContentLength: Int64,
        origin: HTTPURLResponse? = nil
    ) {
        self.origin = origin
        self.statusCode = statusCode
        self.fields = fields
        self.httpVersion = httpVersion
        super.init(url: url, expectedContentLength: expectedContentLength)
    }

    /// Makes a response.
    ///
    /// - Parameters:
    ///   - url: The request's URL.
    ///   - statusCode: The status code.
    ///   - httpVersion: The protocol version, `HTTP/1.1` when nil.
    ///   - headerFields: Names and values of the fields. The expected length is the value of `Content-Length`.
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
        var fields = HTTPFields()
        for (name, value) in (headerFields ?? [:]).sorted(by: { $0.key < $1.key }) where !name.isEmpty {
            fields.append(name: name, value: value)
        }
        self.statusCode = statusCode
        self.httpVersion = httpVersion ?? "HTTP/1.1"
        self.fields = fields
        origin = nil
        super.init(url: url, expectedContentLength: Self.contentLength(in: fields) ?? -1)
    }

    /// The same response with another URL: for handlers that load a URL by loading another one. It receives the same
    /// trailer fields as this response.
    public func replacingURL(by url: URL) -> HTTPURLResponse { copy(url: url, origin: self) }

    /// - Parameter origin: the response whose trailer fields the copy receives.
    func copy(url: URL? = nil, fields: HTTPFields? = nil, origin: HTTPURLResponse?) -> HTTPURLResponse {
        HTTPURLResponse(
            url: url ?? self.url ?? URL(fileURLWithPath: "/"), statusCode: statusCode, httpVersion: httpVersion,
            fields: fields ?? self.fields, expectedContentLength: expectedContentLength, origin: origin)
    }

    /// The fields' names and values, both strings.
    ///
    /// Names are capitalised as on Apple's systems: `Content-Type`, `Etag`, `WWW-Authenticate`; names that start with
    /// `X-` keep their received spelling. Values of the same name are joined with commas.
    /// ``value(forHTTPHeaderField:)`` finds a field regardless of its case, and is faster.
    open var allHeaderFields: [AnyHashable: Any] {
        if let known = later.withLock({ $0.dictionary }) { return known }
        let made = fields.dictionary(joinedBy: ", ", spelling: Self.capitalized)
        later.withLock { $0.dictionary = made }
        return made
    }

    /// The value of a field, regardless of the case of `field`; several values are joined with commas. Nil when absent.
    open func value(forHTTPHeaderField field: String) -> String? { fields[name: field] }

    /// The reason phrase of a status code (RFC 9110 §15 and IANA's registry), or the name of its class.
    open class func localizedString(forStatusCode statusCode: Int) -> String { reasonPhrase(for: statusCode) }

    override var contentDisposition: String? { fields[.contentDisposition] }

    /// Of several types, the last valid one counts. Without a charset it has that of the first of the equal types just
    /// before it. Both as the Fetch standard requires ("extract a MIME type").
    override func makeContentType() -> ContentType {
        let types = fields.values(of: .contentType).flatMap { $0.splitOutsideQuotes(at: ",") }
        var (result, charset) = (ContentType(), String?.none)
        for text in types {
            guard let type = MIMEType(text), type.essence != "*/*" else { continue }
            let own = type["charset"]
            if type.essence != result.mimeType { charset = own }
            result = ContentType(mimeType: type.essence, textEncodingName: (own ?? charset)?.asciiLowercased)
        }
        return result
    }

    static func contentLength(in fields: HTTPFields) -> Int64? { fields[.contentLength].flatMap { contentLength($0) } }

    /// The number in a value that has digits alone.
    package static func contentLength(_ value: some StringProtocol) -> Int64? {
        value.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int64(value) : nil
    }

    private static func capitalized(_ name: String) -> String {
        if name.utf8.count > 2, name.prefix(2).equalsIgnoringASCIICase("x-") { return name }
        if name.equalsIgnoringASCIICase("www-authenticate") { return "WWW-Authenticate" }
        var atStart = true
        let bytes = name.utf8.map { byte in
            defer { atStart = !ASCII.isLetterOrDigit(byte) }
            switch byte {
            case 0x61...0x7A where atStart: return byte & ~0x20
            case 0x41...0x5A where !atStart: return byte | 0x20
            default: return byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: NSSecureCoding

    private enum CodingKey {
        static let statusCode = "statusCode"
        static let httpVersion = "httpVersion"
        static let fields = "fields"
        static let trailers = "trailers"
    }

    /// Decodes the result of ``encode(with:)``; nil when the archive is not keyed, or lacks a required value.
    public required init?(coder aDecoder: NSCoder) {
        guard aDecoder.allowsKeyedCoding,
            let status = aDecoder.decodeNumber(forKey: CodingKey.statusCode),
            let fields = HTTPFields(coder: aDecoder, key: CodingKey.fields)
        else { return nil }
        statusCode = status.intValue
        httpVersion = aDecoder.decodeString(forKey: CodingKey.httpVersion) ?? "HTTP/1.1"
        self.fields = fields
        origin = nil
        super.init(coder: aDecoder)
        trailers = HTTPFields(coder: aDecoder, key: CodingKey.trailers)
    }

    /// Encodes the response into a keyed archive.
    open override func encode(with aCoder: NSCoder) {
        super.encode(with: aCoder)
        guard aCoder.allowsKeyedCoding else { return }
        aCoder.encode(NSNumber(value: statusCode), forKey: CodingKey.statusCode)
        aCoder.encodeString(httpVersion, forKey: CodingKey.httpVersion)
        fields.encode(with: aCoder, key: CodingKey.fields)
        trailers?.encode(with: aCoder, key: CodingKey.trailers)
    }

    /// Whether URL, length, status and fields are the same. The trailer fields, which may still arrive, do not count.
    open override func isEqual(_ value: Any?) -> Bool {
        guard super.isEqual(value), let other = value as? HTTPURLResponse else { return false }
        return statusCode == other.statusCode && fields.hasSameContent(as: other.fields)
    }

    /// URL, status and fields.
    open override var description: String {
        let lines = fields.map { "    \($0.name): \($0.value)\n" }.sorted().joined()
        return "<\(type(of: self))> { URL: \(url?.absoluteString ?? "(null)") } "
            + "{ status: \(statusCode), headers {\n\(lines)} }"
    }
}

extension HTTPURLResponse {
    static func reasonPhrase(for statusCode: Int) -> String {
        reasonPhrases[statusCode] ?? className(of: statusCode)
    }

    private static func className(of statusCode: Int) -> String {
        switch statusCode {
        case 100...199: "Informational"
        case 200...299: "Success"
        case 300...399: "Redirection"
        case 400...499: "Client Error"
        default: "Server Error"
        }
    }

    private static let reasonPhrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked",
        424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 506: "Variant Also Negotiates",
        507: "Insufficient Storage", 508: "Loop Detected", 511: "Network Authentication Required",
    ]
}
