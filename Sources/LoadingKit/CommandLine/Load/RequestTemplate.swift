import Foundation
import LoadingKit

/// What all requests of a run have in common.
struct RequestTemplate {
    static let userAgent = "loadkit/0.1.0"

    private let method: String
    private let body: Data?
    private let fields: [FieldArgument]
    private let userAgent: String
    private let authorization: String?

    init(_ options: LoadOptions, readFile: (String) throws -> Data) throws {
        body = try FormBody.make(options.data, readFile: readFile)
        method = try Self.method(options)
        fields = try options.header.map(FieldArgument.init)
        userAgent = options.userAgent ?? Self.userAgent
        authorization = try options.user.map(Self.basic)
    }

    func request(for argument: URLArgument) -> URLRequest {
        var request = URLRequest(url: argument.url)
        request.httpMethod = method
        request.httpBody = body
        request.setValue(userAgent.isEmpty ? nil : userAgent, forHTTPHeaderField: "User-Agent")
        request.setValue("*/*", forHTTPHeaderField: "Accept")
        if body != nil { request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type") }
        let authorization = authorization ?? Self.credentials(in: argument.url)
        if let authorization { request.setValue(authorization, forHTTPHeaderField: "Authorization") }
        FieldArgument.apply(fields, to: &request)
        return request
    }

    private static func method(_ options: LoadOptions) throws -> String {
        guard let method = options.method else {
            return options.head ? "HEAD" : options.data.isEmpty ? "GET" : "POST"
        }
        let isToken = method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !#""(),/:;<=>?@[\]{}"#.utf8.contains($0) }
        guard isToken, !method.isEmpty else { throw ToolFailure(.usage, "'\(method)' is not a method") }
        return method
    }

    /// RFC 7617.
    private static func basic(_ user: String) throws -> String {
        guard user.contains(":") else { throw ToolFailure(.usage, "-u needs NAME:PASSWORD") }
        return "Basic \(Data(user.utf8).base64EncodedString())"
    }

    private static func credentials(in url: URL) -> String? {
        guard let user = url.user(percentEncoded: false) else { return nil }
        return try? basic("\(user):\(url.password(percentEncoded: false) ?? "")")
    }
}
