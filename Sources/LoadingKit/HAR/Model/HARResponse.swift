import Foundation

/// A response of a recording.
public struct HARResponse: HARPart, Sendable, Hashable {
    /// The status code; 0 where there was no response.
    public var status: Int
    /// The reason phrase.
    public var statusText: String
    /// The protocol version, such as `HTTP/1.1` or `h2`; empty where it is not known.
    public var httpVersion: String
    /// The cookies that were set.
    public var cookies: [HARCookie]
    /// The header fields.
    public var headers: [HARNameValue]
    /// The body.
    public var content: HARContent
    /// `Location`, where the response is a redirect; otherwise empty.
    public var redirectURL: String
    /// The number of bytes of the head as received; -1 where it is not known.
    public var headersSize: Int
    /// The number of bytes of the body as received; -1 where it is not known.
    public var bodySize: Int
    /// A text for human readers.
    public var comment: String?
    /// Unknown members, such as Chrome's `_error`.
    public var others: [String: JSONValue] = [:]

    /// Makes a response.
    public init(
        status: Int, statusText: String = "", headers: [HARNameValue] = [], content: HARContent = HARContent(),
        redirectURL: String = ""
    ) {
        self.status = status
        self.statusText = statusText
        self.headers = headers
        self.content = content
        self.redirectURL = redirectURL
        httpVersion = ""
        cookies = []
        headersSize = -1
        bodySize = -1
    }

    static var blank: HARResponse { HARResponse(status: 0) }

    static let members: [HARMember<HARResponse>] = [
        .init("status", \.status, isRequired: true), .init("statusText", \.statusText),
        .init("httpVersion", \.httpVersion), .init("cookies", \.cookies), .init("headers", \.headers),
        .init("content", \.content), .init("redirectURL", \.redirectURL), .init("headersSize", \.headersSize),
        .init("bodySize", \.bodySize),
    ]
}

/// A response's body, after content decoding.
public struct HARContent: HARPart, Sendable, Hashable {
    /// The number of bytes of the body.
    public var size: Int
    /// The number of bytes saved by compression; nil where it is not known.
    public var compression: Int?
    /// The value of `Content-Type`; `x-unknown` where there is none.
    public var mimeType: String
    /// The body; nil where it was not recorded.
    public var text: String?
    /// `base64`, or nil for text.
    public var encoding: String?
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes a body.
    public init(size: Int = 0, mimeType: String = "x-unknown", text: String? = nil, encoding: String? = nil) {
        self.size = size
        self.mimeType = mimeType
        self.text = text
        self.encoding = encoding
    }

    static var blank: HARContent { HARContent(size: -1, mimeType: "") }

    static let members: [HARMember<HARContent>] = [
        .init("size", \.size), .init("compression", \.compression), .init("mimeType", \.mimeType),
        .init("text", \.text), .init("encoding", \.encoding),
    ]

    /// The body's bytes; nil where they were not recorded, or the text is marked as base64 and is not valid.
    public var data: Data? {
        guard let text else { return size > 0 ? nil : Data() }
        guard encoding?.lowercased() == "base64" else { return Data(text.utf8) }
        return Data(base64Encoded: text, options: .ignoreUnknownCharacters)
    }
}
