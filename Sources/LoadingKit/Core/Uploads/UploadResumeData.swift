import Foundation

/// The state from which an upload is resumed: the resource that the server has created for it, and the body.
///
/// It is encoded as a property list, which includes a body of data. For a file it has the path, with the size and the
/// time by which the file is recognised; for a stream it has nothing. It contains no credentials of the program: only
/// fields that request a form of the response are kept, and the user name and password of a URL are left out. The
/// resource's URL is from the server, which may accept it as permission to resume the upload.
struct UploadResumeData: Equatable {
    enum Content: Equatable {
        case data(Data)
        case file(BodyFile)
        case stream
    }

    private enum Key {
        static let version = "LoadingKitUploadResumeDataVersion"
        static let url = "URL"
        static let firstURL = "FirstURL"
        static let method = "Method"
        static let fields = "RequestFields"
        static let user = "User"
        static let rules = "RequestRules"
        static let resource = "UploadResource"
        static let data = "Body"
        static let file = "BodyFile"
        static let fileSize = "BodyFileSize"
        static let fileModified = "BodyFileModified"
    }

    private static let version = 1
    private static let keptFields = ["Accept", "Accept-Language", "User-Agent"]

    var url: URL
    /// The session's identifier of the user that the URL named (``NamedUsers``).
    var user: String?
    let firstURL: URL
    let method: String
    let fields: [String: String]
    /// The program's permissions and requirements for the request: a resumed upload must not do anything that they
    /// forbade to its first part.
    let rules: RequestRules
    let resource: URL
    let content: Content

    /// Nil where the request has no URL, or has a file that was not measured.
    init?(_ resumption: UploadResumption) {
        let request = resumption.request
        guard let url = request.url else { return nil }
        if let data = request.httpBody {
            content = .data(data)
        } else if let file = request.bodyFile {
            guard file.size != nil, file.modified != nil else { return nil }
            content = .file(file)
        } else {
            content = .stream
        }
        self.url = url.withoutCredentials
        firstURL = resumption.firstURL.withoutCredentials
        method = request.httpMethod ?? "POST"
        var fields: [String: String] = [:]
        for name in Self.keptFields { fields[name] = request.value(forHTTPHeaderField: name) }
        self.fields = fields
        rules = RequestRules(keptOf: request)
        resource = resumption.resource
    }

    /// Decodes ``encoded``. Throws for any other data.
    init(_ data: Data) throws {
        guard let list = PlainPropertyList.dictionary(data) else {
            throw Self.invalid("it is not a property list")
        }
        guard let version = list[Key.version] as? Int else {
            let isDownload = (try? ResumeData(data)) != nil
            throw Self.invalid(isDownload ? "it is the resume data of a download" : "it has no version")
        }
        guard version == Self.version else { throw Self.invalid("it is of version \(version), not \(Self.version)") }
        url = try Self.url(list[Key.url], "the URL of the request")
        firstURL = list[Key.firstURL] == nil ? url : try Self.url(list[Key.firstURL], "the URL of the task")
        resource = try Self.url(list[Key.resource], "the URL of the upload")
        guard resource.isSameOrigin(as: url) else {
            throw Self.invalid("the upload is on another server than the request")
        }
        guard let method = list[Key.method] as? String, !method.isEmpty,
            method.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Self.invalid("it has no valid method") }
        self.method = method
        let fields = list[Key.fields] as? [String: String] ?? [:]
        self.fields = fields.filter { Self.keptFields.contains($0.key) }
        user = list[Key.user] as? String
        content = try Self.content(list)
        guard let rules = RequestRules(propertyList: list[Key.rules]) else {
            throw Self.invalid("its request rules are malformed")
        }
        self.rules = rules
    }

    private static func url(_ value: Any?, _ name: String) throws -> URL {
        guard let text = value as? String, let url = URL(string: text), url.host != nil else {
            throw Self.invalid("\(name) has no host")
        }
        return url
    }

    private static func content(_ list: [String: Any]) throws -> Content {
        if let data = list[Key.data] as? Data { return .data(data) }
        guard let path = list[Key.file] as? String else { return .stream }
        guard path.hasPrefix("/"), let size = (list[Key.fileSize] as? NSNumber)?.int64Value, size >= 0,
            let modified = (list[Key.fileModified] as? NSNumber)?.int64Value
        else { throw Self.invalid("it has no valid file") }
        return .file(BodyFile(URL(fileURLWithPath: path), size: size, modified: modified))
    }

    static func invalid(_ reason: String) -> LoadFailure { ResumeData.invalid(reason) }

    /// A property list. It is never nil for values that the initializers accept.
    var encoded: Data? {
        var list: [String: Any] = [
            Key.version: Self.version, Key.url: url.withoutCredentials.absoluteString, Key.method: method,
            Key.fields: fields,
            Key.resource: resource.absoluteString,
        ]
        if firstURL != url.withoutCredentials { list[Key.firstURL] = firstURL.absoluteString }
        list[Key.user] = user
        list[Key.rules] = rules.propertyList
        switch content {
        case .data(let data): list[Key.data] = data
        case .file(let file):
            list[Key.file] = file.url.path
            list[Key.fileSize] = file.size
            list[Key.fileModified] = file.modified
        case .stream: break
        }
        return try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    }

    /// The upload's original request, except for the fields that are not kept. The request of a stream has no body.
    var request: URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        rules.apply(to: &request)
        switch content {
        case .data(let data): request.httpBody = data
        case .file(let file): request.bodyFile = file
        case .stream: break
        }
        return request
    }
}
