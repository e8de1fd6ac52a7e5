import Foundation
import LoadingKitForms

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
        queryString = NamedValue.list(ofForm: URLText(url).query ?? "").map {
            HARNameValue(name: $0.name, value: $0.value)
        }
        headersSize = -1
        bodySize = postData == nil ? 0 : -1
    }

    static let partName = "request"

    init(_ object: inout HARObject) throws(HARError) {
        method = try object.requiredString("method")
        url = try object.requiredString("url")
        httpVersion = try object.string("httpVersion") ?? ""
        cookies = try object.list("cookies", HARCookie.init) ?? []
        headers = try object.list("headers", HARNameValue.init) ?? []
        queryString = try object.list("queryString", HARNameValue.init) ?? []
        postData = try object.object("postData", HARPostData.init)
        headersSize = try object.integer("headersSize") ?? -1
        bodySize = try object.integer("bodySize") ?? -1
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("method", method)
        members.set("url", url)
        members.set("httpVersion", httpVersion)
        members.set("cookies", cookies)
        members.set("headers", headers)
        members.set("queryString", queryString)
        members.set("postData", postData)
        members.set("headersSize", headersSize)
        members.set("bodySize", bodySize)
        members.set("comment", comment)
        return members.value
    }
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

    static let partName = "postData"

    init(_ object: inout HARObject) throws(HARError) {
        mimeType = try object.string("mimeType") ?? ""
        params = try object.list("params", HARParameter.init) ?? []
        text = try object.string("text") ?? ""
        let own = try object.string("_encoding")
        encoding = try object.string("encoding") ?? own
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("mimeType", mimeType)
        members.set("params", params)
        members.set("text", text)
        members.set("_encoding", encoding)
        members.set("comment", comment)
        return members.value
    }

    /// The body's bytes: in a recording with only a form's fields, these as `application/x-www-form-urlencoded`. Nil
    /// where the text is marked as base64 and is not valid.
    public var data: Data? {
        if encoding?.lowercased() == "base64" { return Data(base64Encoded: text, options: .ignoreUnknownCharacters) }
        guard text.isEmpty, !params.isEmpty else { return Data(text.utf8) }
        return Data(FormURLEncoded(params.map { FormURLEncoded.Pair($0.name, $0.value ?? "") }).encoded.utf8)
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

    static let partName = "param"

    init(_ object: inout HARObject) throws(HARError) {
        name = try object.string("name") ?? ""
        value = try object.string("value")
        fileName = try object.string("fileName")
        contentType = try object.string("contentType")
        comment = try object.string("comment")
        others = object.rest
    }

    var json: JSONValue {
        var members = HARMembers(others)
        members.set("name", name)
        members.set("value", value)
        members.set("fileName", fileName)
        members.set("contentType", contentType)
        members.set("comment", comment)
        return members.value
    }
}
