import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A request of a recording.
public struct HARRequest: HARPart, Sendable, Hashable {
    /// The method, such as `GET`.
    public var method: String
    /// The absolute URL, without a fragment.
    public var url: String
    /// The protocol version, such as `HTTP/1.1` or `h2`; empty where it is not known.
    public var httpVersion: String
    /// The cookies that were sent.
    public var cookies: [HARCookie]
    /// The header fields.
    public var headers: [HARNameValue]
    /// The items of the URL's query, decoded.
    public var queryString: [HARNameValue]
    /// The body; nil without one.
    public var postData: HARPostData?
    /// The number of bytes of the head as sent; -1 where it is not known.
    public var headersSize: Int
    /// The number of bytes of the body; -1 where it is not known.
    public var bodySize: Int
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes a request.
    public init(method: String, url: String, headers: [HARNameValue] = [], postData: HARPostData? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.postData = postData
        httpVersion = ""
        cookies = []
        let query = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        queryString = FormPairs.parsed(Array(query.utf8)).map { HARNameValue(name: $0.name, value: $0.value) }
        headersSize = -1
        bodySize = postData == nil ? 0 : -1
    }

    static var blank: HARRequest { HARRequest(method: "", url: "") }

    static let members: [HARMember<HARRequest>] = [
        .init("method", \.method, isRequired: true), .init("url", \.url, isRequired: true),
        .init("httpVersion", \.httpVersion), .init("cookies", \.cookies), .init("headers", \.headers),
        .init("queryString", \.queryString), .init("postData", \.postData), .init("headersSize", \.headersSize),
        .init("bodySize", \.bodySize, missing: { _ in -1 }),
    ]
}

/// A request's body.
public struct HARPostData: HARPart, Sendable, Hashable {
    /// The value of `Content-Type`.
    public var mimeType: String
    /// The fields of a form; empty for other bodies.
    public var params: [HARParameter]
    /// The body. Bytes that are not UTF-8 are base64, as stated by ``encoding``.
    public var text: String
    /// `base64`, or nil. The specification defines it only for responses; for requests it is written as `_encoding`.
    public var encoding: String?
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes a body.
    public init(mimeType: String, text: String, params: [HARParameter] = []) {
        self.mimeType = mimeType
        self.text = text
        self.params = params
    }

    static var blank: HARPostData { HARPostData(mimeType: "", text: "") }

    static let members: [HARMember<HARPostData>] = [
        .init("mimeType", \.mimeType), .init("params", \.params), .init("text", \.text),
        .init("_encoding", \.encoding), .init("encoding", \.encoding, isWritten: false),
    ]

    /// The body's bytes: in a recording with only a form's fields, these as `application/x-www-form-urlencoded`. Nil
    /// where the text is marked as base64 and is not valid.
    public var data: Data? {
        if encoding?.lowercased() == "base64" { return Data(base64Encoded: text, options: .ignoreUnknownCharacters) }
        guard text.isEmpty, !params.isEmpty else { return Data(text.utf8) }
        return Data(FormPairs.encoded(params.map { ($0.name, $0.value ?? "") }).utf8)
    }
}

/// A field of a form.
public struct HARParameter: HARPart, Sendable, Hashable {
    /// The field's name.
    public var name: String
    /// The field's value; nil for a file whose content was not recorded.
    public var value: String?
    /// The name of the sent file.
    public var fileName: String?
    /// The type of the sent file.
    public var contentType: String?
    /// A text for human readers.
    public var comment: String?
    /// Unknown members.
    public var others: [String: JSONValue] = [:]

    /// Makes a field.
    public init(name: String, value: String?, fileName: String? = nil, contentType: String? = nil) {
        self.name = name
        self.value = value
        self.fileName = fileName
        self.contentType = contentType
    }

    static var blank: HARParameter { HARParameter(name: "", value: nil) }

    static let members: [HARMember<HARParameter>] = [
        .init("name", \.name), .init("value", \.value), .init("fileName", \.fileName),
        .init("contentType", \.contentType),
    ]
}
