#if CommandLineTool
    import Foundation
    import LoadingKit

    /// The common part of all requests of a run.
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

        /// The value of a Basic credential (RFC 7617).
        private static func basic(_ user: String) throws -> String {
            guard user.contains(":") else { throw ToolFailure(.usage, "-u needs NAME:PASSWORD") }
            return "Basic \(Data(user.utf8).base64EncodedString())"
        }

        private static func credentials(in url: URL) -> String? {
            guard let user = url.user(percentEncoded: false) else { return nil }
            return try? basic("\(user):\(url.password(percentEncoded: false) ?? "")")
        }
    }

    /// A field in an argument of `-H`.
    enum FieldArgument: Hashable {
        case set(name: String, value: String)
        case remove(name: String)

        /// `Name: value`; `Name:` removes the field that would be sent; `Name;` sends the field without a value.
        init(_ text: String) throws {
            guard let end = text.firstIndex(where: { $0 == ":" || $0 == ";" }), end > text.startIndex else {
                throw ToolFailure(.usage, "-H needs 'Name: value', not '\(text)'")
            }
            let name = String(text[..<end])
            let value = text[text.index(after: end)...].trimmingCharacters(in: .whitespaces)
            if text[end] == ":" {
                self = value.isEmpty ? .remove(name: name) : .set(name: name, value: value)
            } else {
                guard value.isEmpty else { throw ToolFailure(.usage, "-H needs 'Name: value', not '\(text)'") }
                self = .set(name: name, value: "")
            }
        }

        /// The first field with a name replaces the tool's own; further ones add to it.
        static func apply(_ fields: [FieldArgument], to request: inout URLRequest) {
            var seen: Set<String> = []
            for field in fields {
                switch field {
                case .remove(let name): request.setValue(nil, forHTTPHeaderField: name)
                case .set(let name, let value) where seen.insert(name.lowercased()).inserted:
                    request.setValue(value, forHTTPHeaderField: name)
                case .set(let name, let value): request.addValue(value, forHTTPHeaderField: name)
                }
            }
        }
    }

    /// The body that `-d` specifies.
    enum FormBody {
        /// Nil where there is no `-d`. Pieces are joined with `&`; `@FILE` is a file's content without its line breaks.
        static func make(_ pieces: [String], readFile: (String) throws -> Data) throws -> Data? {
            guard !pieces.isEmpty else { return nil }
            return Data(try pieces.map { try bytes(of: $0, readFile) }.joined(separator: "&".utf8))
        }

        private static func bytes(of piece: String, _ readFile: (String) throws -> Data) throws -> [UInt8] {
            guard piece.hasPrefix("@") else { return Array(piece.utf8) }
            let path = String(piece.dropFirst())
            do {
                return try readFile(path).filter { $0 != 0x0a && $0 != 0x0d && $0 != 0 }
            } catch {
                throw ToolFailure(.readError, "the data of \(path) cannot be read: \(error.localizedDescription)")
            }
        }
    }
#endif
