#if CommandLineTool
    import Foundation
    import LoadingKit
    import LoadingKitForms
    @_spi(LoadingKitPlugins) import LoadingKitPrimitives

    /// The common part of all requests of a run.
    struct RequestTemplate {
        static let userAgent = "loadkit/0.1.0"

        private let method: String
        private let content: RequestContent
        private let query: [String]
        private let fields: [FieldArgument]
        private let ownFields: [(name: String, value: String)]

        init(_ options: LoadCommand, _ content: RequestContent, readFile: (String) throws -> Data) throws {
            let request = options.request
            self.content = content
            var query = try request.urlQuery.map {
                $0.hasPrefix("+") ? String($0.dropFirst()) : try DataBody.encoded($0, readFile)
            }
            if case .query(let data) = content { query.append(String(decoding: data, as: UTF8.self)) }
            self.query = query
            method = try Self.method(request, content)
            fields = try request.header.flatMap { try FieldArgument.all($0, readFile) }
            let userAgent = request.userAgent ?? Self.userAgent
            ownFields = [
                ("Authorization", options.login.oauth2Bearer.map { "Bearer \($0)" }), ("User-Agent", userAgent),
                ("Accept", content.isJSON ? "application/json" : "*/*"), ("Referer", request.referer.map(Self.referer)),
                ("Range", request.range.map { "bytes=\($0)" }), ("Content-Type", content.type),
            ].compactMap { name, value in value.map { (name, $0) } }.filter { !$0.1.isEmpty }
        }

        /// The names of fields that are not to be sent, in lower case.
        var omittedFields: Set<String> {
            let omitted = fields.filter { $0.value == nil }.map { $0.name.lowercased() }
            return Set(omitted + (ownFields.contains { $0.name == "User-Agent" } ? [] : ["user-agent"]))
        }

        /// - Parameters:
        ///   - offset: the first byte to load, of a body whose beginning is there.
        ///   - login: the credential that is sent before the server asks for it.
        func request(for argument: URLArgument, from offset: Int64 = 0, login: Login? = nil) throws -> URLRequest {
            let url = try RequestTarget.url(argument.url, adding: query, nameOfUpload: content.uploadName)
            var request = URLRequest(url: url)
            request.httpMethod = method
            request.headerFields = ownFields
            if offset > 0 { request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range") }
            if let login { request.setValue(login.basic, forHTTPHeaderField: "Authorization") }
            FieldArgument.apply(fields, to: &request)
            return request
        }

        private static func method(_ options: RequestOptions, _ content: RequestContent) throws -> String {
            guard let method = options.method else { return options.head ? "HEAD" : content.method }
            let isToken = method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !#""(),/:;<=>?@[\]{}"#.utf8.contains($0) }
            guard isToken, !method.isEmpty else { throw ToolFailure(.usage, "'\(method)' is not a method") }
            return method
        }

        /// `;auto` sets the field after redirects, which is not supported.
        private static func referer(_ text: String) -> String {
            text.hasSuffix(";auto") ? String(text.dropLast(5)) : text
        }
    }

    /// The content of a run's requests.
    enum RequestContent {
        case none
        case data(DataBody)
        /// The data of `-G`.
        case query(Data)
        case form(MultipartBody)
        /// - Parameter path: of a file; nil for standard input.
        case upload(path: String?)
        /// A pipe or a device, which has no size. The bytes of a pipe can be read once.
        case stream(path: String, isPipe: Bool)

        init(_ options: LoadCommand, readFile: (String) throws -> Data) throws {
            let data = try DataBody(options.body.data, readFile: readFile)
            let form = try FormArgument.form(options.body.form, readFile: readFile)
            let upload = options.body.uploadFile.first
            guard [data != nil, form != nil, upload != nil].count(where: { $0 }) <= 1 else {
                throw ToolFailure(.usage, "-d, -F and -T are different bodies: use one of them")
            }
            guard options.body.uploadFile.count <= 1 else {
                throw ToolFailure(.usage, "-T: --next is between two files")
            }
            if let data {
                self = options.request.get ? .query(data.bytes) : .data(data)
            } else if let form {
                do {
                    self = .form(try form.makeBody(allowsUnknownLength: true))
                } catch {
                    throw ToolFailure(.readError, "the form: \(error.localizedDescription)")
                }
            } else if let upload {
                let isInput = upload == "-" || upload == "."
                guard isInput || FileManager.default.isReadableFile(atPath: upload) else {
                    throw ToolFailure(.readError, "\(upload) cannot be read")
                }
                if !isInput, InputFile.isStream(upload) {
                    self = .stream(path: upload, isPipe: InputFile.isPipe(upload))
                } else {
                    self = .upload(path: isInput ? nil : upload)
                }
            } else {
                self = .none
            }
        }

        var method: String {
            switch self {
            case .none, .query: "GET"
            case .data, .form: "POST"
            case .upload, .stream: "PUT"
            }
        }

        var type: String? {
            switch self {
            case .data(let data): data.isJSON ? "application/json" : "application/x-www-form-urlencoded"
            case .form(let form): form.contentType
            case .none, .query, .upload, .stream: nil
            }
        }

        var isJSON: Bool { if case .data(let data) = self { data.isJSON } else { false } }

        var hasBody: Bool {
            switch self {
            case .none, .query: false
            case .data, .form, .upload, .stream: true
            }
        }

        /// Whether the body is standard input, which is read while the body is sent.
        var isInput: Bool { if case .upload(nil) = self { true } else { false } }

        /// The name of what is read while the body is sent, and cannot be read again; nil for other bodies.
        var nameOfInput: String? {
            switch self {
            case .upload(nil): "standard input"
            case .stream(let path, let isPipe): isPipe ? path : nil
            case .none, .data, .query, .form, .upload: nil
            }
        }

        var uploadName: String? {
            switch self {
            case .upload(let path?), .stream(let path, _): URL(fileURLWithPath: path).lastPathComponent
            case .none, .data, .query, .form, .upload(nil): nil
            }
        }
    }

    /// The URL that is requested, for what is given.
    enum RequestTarget {
        static func url(_ url: URL, adding query: [String], nameOfUpload: String?) throws -> URL {
            guard var components = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return url }
            let path = components.percentEncodedPath
            let isFolder = path.hasSuffix("/") || (path.isEmpty && url.host()?.isEmpty == false)
            let name = isFolder ? nameOfUpload : nil
            if let name {
                components.percentEncodedPath = (path.isEmpty ? "/" : path) + PercentCoding.encoded(name)
            }
            if !query.isEmpty {
                let whole = [components.percentEncodedQuery].compactMap { $0 } + query
                components.percentEncodedQuery = nil
                components.fragment = nil
                let text = (components.string ?? "") + "?" + whole.filter { !$0.isEmpty }.joined(separator: "&")
                return try URLArgument(text).url
            }
            return name == nil ? url : components.url ?? url
        }
    }
#endif
