import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// The state from which a download is resumed: the file with its bytes, and the version of the resource they belong to.
///
/// It is encoded as a property list, which includes the request's fields. Fields that identify the user to servers and
/// proxies are left out, and so are the user name and password of a URL.
package struct ResumeData: Equatable {
    private enum Key {
        static let version = "LoadingKitResumeDataVersion"
        static let url = "NSURLSessionDownloadURL"
        static let firstURL = "LoadingKitResumeFirstURL"
        static let count = "NSURLSessionResumeBytesReceived"
        static let entityTag = "NSURLSessionResumeEntityTag"
        static let lastModified = "NSURLSessionResumeServerDownloadDate"
        static let fileName = "NSURLSessionResumeInfoTempFileName"
        static let fields = "LoadingKitResumeRequestFields"
        static let user = "LoadingKitResumeUser"
        static let coding = "LoadingKitResumeContentCoding"
        static let rules = "LoadingKitResumeRequestRules"
    }

    private static let version = 1
    /// Fields that request a range. The resumed download sets them itself, and ``rest(of:from:)`` sets the last one.
    private static let fieldsOfPart = ["Range", "If-Range", "Accept-Encoding"]

    private static func isKept(_ name: String) -> Bool {
        !URLRequest.isCredentialField(name) && !fieldsOfPart.contains { $0.equalsIgnoringASCIICase(name) }
    }

    var url: URL
    /// The original URL of the download, before redirects (``URLSessionTask/firstURL``).
    var firstURL: URL
    var fields: [String: String]
    /// The program's permissions and requirements for the request: the resumed download must not do anything that they
    /// forbade to its first part.
    var rules: RequestRules
    /// The session's identifier of the user that the URL named (``NamedUsers``).
    var user: String?
    /// The name of a file in the ``DownloadFolder``.
    package var fileName: String
    /// The number of the resource's bytes in the file, from the resource's beginning.
    package var count: Int64
    /// The value of `Content-Encoding`, where the file has the content in its content codings.
    package private(set) var coding: String?
    /// The value for `If-Range`: a strong entity tag, or the date of the last modification (RFC 9110 §13.1.5).
    var validator: Validator

    package enum Validator: Equatable {
        case entityTag(String)
        case lastModified(String)

        var text: String {
            switch self {
            case .entityTag(let text), .lastModified(let text): text
            }
        }
    }

    /// Nil where a download cannot be resumed. It requires a GET whose response has HTTP's fields, a validator for the
    /// resource's version, and stored bytes that are unchanged. With a scheme other than http and https the response
    /// must also have `Accept-Ranges: bytes`: the handler of the scheme then gets `Range` and `If-Range`, and answers
    /// 206 with `Content-Range` (RFC 9110 §14).
    ///
    /// - Parameters:
    ///   - firstURL: the original URL of the download, where it differs from the request's.
    ///   - isCoded: whether the file has the content in its content codings, where it has any.
    package init?(
        _ request: URLRequest, _ response: URLResponse?, firstURL: URL?, fileName: String, count: Int64,
        isCoded: Bool = false
    ) {
        guard count > 0, let url = request.url, Self.mayHaveRanges(url),
            (request.httpMethod ?? "GET") == "GET", let response = response as? HTTPURLResponse,
            response.statusCode == 200 || response.statusCode == 206,
            isCoded == (response.value(forHTTPHeaderField: "Content-Encoding") != nil),
            Self.hasRanges(response, isHTTP: url.hasScheme("http") || url.hasScheme("https")),
            let validator = Validator(response)
        else { return nil }
        // A range that the program requested is not the beginning of the whole.
        if response.statusCode == 206, request.value(forHTTPHeaderField: "If-Range") == nil { return nil }
        self.url = url.withoutCredentials
        self.firstURL = (firstURL ?? url).withoutCredentials
        self.fileName = fileName
        self.count = count
        self.validator = validator
        coding = response.value(forHTTPHeaderField: "Content-Encoding")
        fields = (request.allHTTPHeaderFields ?? [:]).filter { Self.isKept($0.key) }
        rules = RequestRules(keptOf: request)
    }

    /// Whether downloads of the URL's scheme may be resumed: not those that LoadingKit loads as a whole. Resume data
    /// from an untrusted source must not make a program read its own files.
    private static func mayHaveRanges(_ url: URL) -> Bool {
        url.scheme != nil && !url.hasScheme("file") && !url.hasScheme("data")
    }

    /// Whether the server supports ranges of the resource. HTTP servers often do not declare it; a response of another
    /// scheme must.
    private static func hasRanges(_ response: HTTPURLResponse, isHTTP: Bool) -> Bool {
        guard let ranges = response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() else {
            return isHTTP || response.statusCode == 206
        }
        return isHTTP ? ranges != "none" : ranges == "bytes"
    }

    /// Decodes ``encoded``. Throws for any other data.
    package init(_ data: Data) throws {
        guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] else {
            throw Self.invalid("it is not a property list")
        }
        guard let version = list[Key.version] as? Int else { throw Self.invalid("it has no version") }
        guard version == Self.version else { throw Self.invalid("it is of version \(version), not \(Self.version)") }
        guard let text = list[Key.url] as? String, let url = URL(string: text), Self.mayHaveRanges(url) else {
            throw Self.invalid("it has no URL whose scheme permits resumption")
        }
        guard let count = (list[Key.count] as? NSNumber)?.int64Value, count > 0 else {
            throw Self.invalid("it has no number of bytes")
        }
        guard let name = list[Key.fileName] as? String, DownloadFolder.isName(name) else {
            throw Self.invalid("it has no valid file name")
        }
        if let tag = list[Key.entityTag] as? String {
            validator = .entityTag(tag)
        } else if let date = list[Key.lastModified] as? String {
            validator = .lastModified(date)
        } else {
            throw Self.invalid("it has no validator for the version of the resource")
        }
        self.url = url
        firstURL = (list[Key.firstURL] as? String).flatMap { URL(string: $0) } ?? url
        self.count = count
        fileName = name
        let fields = list[Key.fields] as? [String: String] ?? [:]
        self.fields = fields.filter { Self.isKept($0.key) }
        user = list[Key.user] as? String
        coding = list[Key.coding] as? String
        guard let rules = RequestRules(propertyList: list[Key.rules]) else {
            throw Self.invalid("its request rules are malformed")
        }
        self.rules = rules
    }

    private static func invalid(_ reason: String) -> LoadFailure {
        LoadFailure(.cannotDecodeRawData, "the resume data cannot be used: \(reason)")
    }

    /// A property list in XML. It is never nil for values that the initialisers accept.
    package var encoded: Data? {
        var list: [String: Any] = [
            Key.version: Self.version, Key.url: url.withoutCredentials.absoluteString, Key.count: count,
            Key.fileName: fileName,
            Key.fields: fields,
        ]
        if firstURL != url.withoutCredentials { list[Key.firstURL] = firstURL.absoluteString }
        list[Key.user] = user
        list[Key.coding] = coding
        list[Key.rules] = rules.propertyList
        switch validator {
        case .entityTag(let text): list[Key.entityTag] = text
        case .lastModified(let text): list[Key.lastModified] = text
        }
        return try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    }

    /// A request for the resource, without a range.
    var request: URLRequest {
        var request = URLRequest(url: url)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        rules.apply(to: &request)
        return request
    }

    /// A request for the bytes behind `offset`, of the same version, or else for all bytes.
    package func rest(of request: URLRequest, from offset: Int64) -> URLRequest {
        var request = request
        request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range")
        request.setValue(validator.text, forHTTPHeaderField: "If-Range")
        // The new bytes are appended to the existing ones, and must have the same codings.
        request.setValue(coding ?? "identity", forHTTPHeaderField: "Accept-Encoding")
        if coding != nil { request.keepsContentCodings = true }
        return request
    }

    /// Whether the response continues the same version behind `offset` bytes.
    package func isContinued(by response: HTTPURLResponse, from offset: Int64) -> Bool {
        guard response.statusCode == 206, response.value(forHTTPHeaderField: "Content-Encoding") == coding,
            let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init),
            range.range.lowerBound == offset
        else { return false }
        // A server may leave out fields that the client already has (RFC 9110 §15.3.7).
        return switch validator {
        case .entityTag(let tag): response.value(forHTTPHeaderField: "ETag").map { $0 == tag } ?? true
        case .lastModified(let date): response.value(forHTTPHeaderField: "Last-Modified").map { $0 == date } ?? true
        }
    }
}

extension ResumeData.Validator {
    /// A weak tag does not identify the bytes, and is not sent (RFC 9110 §8.8.1, §13.1.5). The date in the same
    /// response is sent, where it is a strong validator.
    init?(_ response: HTTPURLResponse) {
        if let tag = response.value(forHTTPHeaderField: "ETag"), tag.hasPrefix("\""), tag.count > 2 {
            self = .entityTag(tag)
        } else if let date = response.value(forHTTPHeaderField: "Last-Modified"), !date.isEmpty,
            Self.isStrong(date, sentAt: response.value(forHTTPHeaderField: "Date"))
        {
            self = .lastModified(date)
        } else {
            return nil
        }
    }

    /// Whether the resource cannot have changed again with the same date, which has a resolution of one second
    /// (RFC 9110 §8.8.2.2). For a server without a clock this cannot be known.
    private static func isStrong(_ modified: String, sentAt date: String?) -> Bool {
        let now = Date().timeIntervalSince1970
        guard let date = date.flatMap({ HTTPDate.parse($0, now: now) }) else { return true }
        guard let modified = HTTPDate.parse(modified, now: now) else { return false }
        return date > modified
    }
}
