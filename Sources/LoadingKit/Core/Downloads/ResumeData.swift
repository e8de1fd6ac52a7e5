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

        /// The name of the response's field with the text.
        fileprivate var responseField: String {
            switch self {
            case .entityTag: "ETag"
            case .lastModified: "Last-Modified"
            }
        }
    }

    /// Nil where a download cannot be resumed. It requires a GET whose response has HTTP's fields, a validator for the
    /// resource's version, stored bytes that are unchanged, and support for ranges: the handler then gets `Range` and
    /// `If-Range`, and answers 206 with `Content-Range` (RFC 9110 §14).
    ///
    /// - Parameters:
    ///   - ranges: the support of the URL's scheme.
    ///   - firstURL: the original URL of the download, where it differs from the request's.
    ///   - isCoded: whether the file has the content in its content codings, where it has any.
    ///   - continues: whether the response is the rest of a download that the library has resumed.
    package init?(
        _ request: URLRequest, _ response: URLResponse?, _ ranges: RangeSupport, firstURL: URL?, fileName: String,
        count: Int64, isCoded: Bool = false, continues: Bool = false
    ) {
        guard count > 0, let url = request.url,
            (request.httpMethod ?? "GET") == "GET", let response = response as? HTTPURLResponse,
            response.statusCode == 200 || response.statusCode == 206,
            isCoded == (response.contentCoding != nil),
            ranges.includes(response),
            let validator = Validator(response)
        else { return nil }
        // A range that the program requested, with `If-Range` or without, is not the beginning of the whole.
        if response.statusCode == 206, !continues { return nil }
        self.url = url.withoutCredentials
        self.firstURL = (firstURL ?? url).withoutCredentials
        self.fileName = fileName
        self.count = count
        self.validator = validator
        coding = response.contentCoding
        fields = (request.allHTTPHeaderFields ?? [:]).filter { Self.isKept($0.key) }
        rules = RequestRules(keptOf: request)
    }

    /// Decodes ``encoded``. Throws for any other data.
    package init(_ data: Data) throws {
        guard let list = PlainPropertyList.dictionary(data) else {
            throw Self.invalid("it is not a property list")
        }
        guard let version = list[Key.version] as? Int else { throw Self.invalid("it has no version") }
        guard version == Self.version else { throw Self.invalid("it is of version \(version), not \(Self.version)") }
        guard let text = list[Key.url] as? String, let url = URL(string: text), url.scheme != nil else {
            throw Self.invalid("it has no URL")
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

    static func invalid(_ reason: String) -> LoadFailure {
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

    /// The response to a request of ``rest(of:from:)``.
    package enum Answer: Equatable {
        /// It continues the same version. `size` is the size of the resource; negative where it is not known.
        case rest(size: Int64)
        /// All bytes of the same version are there already. Its own content is not the resource's.
        case complete
        /// Its content takes the place of the existing bytes.
        case whole
        /// It has other bytes than the requested ones: the complete resource has to be requested.
        case other
    }

    package func answer(_ response: URLResponse, from offset: Int64) -> Answer {
        guard let response = response as? HTTPURLResponse else { return .whole }
        switch response.statusCode {
        case 206:
            guard let range = continuation(response, from: offset) else { return .other }
            let rest = response.expectedContentLength
            return .rest(size: range.total ?? (rest < 0 ? NSURLSessionTransferSizeUnknown : offset &+ rest))
        case 416:
            // For another version the server would have sent the whole content (RFC 9110 §13.1.5, §15.5.17).
            let hasAll = response.value(forHTTPHeaderField: "Content-Range") == "bytes */\(offset)"
            return hasAll && isOfSameVersion(response) ? .complete : .other
        case _: return .whole
        }
    }

    /// The task's response in place of the server's, where that is ``Answer/complete``: a rest without content. The
    /// program has not requested the range, and would take the status 416 as a failure.
    func emptyRest(_ response: URLResponse, from offset: Int64) -> HTTPURLResponse? {
        HTTPURLResponse(
            url: response.url ?? url, statusCode: 206, httpVersion: (response as? HTTPURLResponse)?.httpVersion,
            headerFields: [
                "Content-Range": "bytes */\(offset)", "Content-Length": "0", validator.responseField: validator.text,
            ])
    }

    /// The failure of a continued download whose file has another size at its end than the resource: a server may send
    /// less than the requested range (RFC 9110 §14.2), and a body need not have the length of the range in its head.
    ///
    /// - Parameter size: nil where it is not known.
    package static func failure(_ count: Int64, of size: Int64?) -> LoadFailure? {
        guard let size, count != size else { return nil }
        return LoadFailure(.networkConnectionLost, "the resumed download ended at \(count) of \(size) bytes")
    }

    /// The response's range, where it continues the same version behind `offset` bytes.
    private func continuation(_ response: HTTPURLResponse, from offset: Int64) -> ContentRange? {
        guard response.contentCoding == coding,
            let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init),
            range.range.lowerBound == offset, isOfSameVersion(response)
        else { return nil }
        return range
    }

    /// A server may leave out fields that the client already has (RFC 9110 §15.3.7).
    private func isOfSameVersion(_ response: HTTPURLResponse) -> Bool {
        response.value(forHTTPHeaderField: validator.responseField).map { $0 == validator.text } ?? true
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
