import Foundation
import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitHAR

/// A request in the form that a stub gets, with its complete body, which the program may have supplied as data, as a
/// file or as a stream.
///
/// It is the request that the program made. Additions of the built-in HTTP handler (`User-Agent`, cookies, credentials,
/// the configuration's `httpAdditionalHeaders`) are not included, because LoadingKit makes them after the program's
/// handlers.
public struct ReceivedRequest: Sendable {
    /// The request. Its `httpBody` contains the body.
    public let request: URLRequest
    /// The URL.
    public let url: URL
    /// The body; empty where there is none.
    public let body: Data
    /// The values of the `{name}` parameters in the stub's pattern, decoded.
    public internal(set) var parameters: [String: String] = [:]
    /// The outcome of the request.
    public internal(set) var outcome = Outcome.pending

    /// The outcome of a request.
    public enum Outcome: Sendable, Hashable {
        /// The request is being matched.
        case pending
        /// The stub with this name answered.
        case answered(stub: String)
        /// No stub matched, and the request was forwarded to the handlers after the stubs.
        case passedOn
        /// No stub matched; the request failed with this text.
        case unexpected(String)
    }

    /// Makes a request with its body.
    public init(_ request: URLRequest, body: Data? = nil) {
        var request = request
        let body = body ?? request.httpBody ?? Data()
        // A stream has been read to its end, even where it was empty.
        if !body.isEmpty || request.httpBodyStream != nil { request.httpBody = body }
        self.request = request
        self.body = body
        url = request.url ?? URL(fileURLWithPath: "/")
    }

    /// The method, such as `GET`.
    public var method: String { request.httpMethod ?? "GET" }

    /// Method and URL, for texts.
    var name: String { "\(method) \(url.absoluteString)" }

    /// The value of a header field, regardless of the case of its name; nil when absent.
    public func value(forField name: String) -> String? { request.value(forHTTPHeaderField: name) }

    /// The body as UTF-8; invalid bytes are replaced by U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    ///
    /// - Throws: ``JSONSyntaxError`` where the body is not JSON.
    public func json() throws(JSONSyntaxError) -> JSONValue { try JSONValue(parsing: body) }

    /// The body, decoded from JSON.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, with decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }

    /// The fields of a body that is a form: `application/x-www-form-urlencoded`, or the parts of `multipart/form-data`.
    public var form: [NamedValue] {
        guard let multipart = MultipartBody(Array(body), contentType: value(forField: "Content-Type")) else {
            return NamedValue.list(ofForm: text)
        }
        return multipart.parts.map { NamedValue(name: $0.name, value: multipart.text(of: $0)) }
    }

    /// The items of the URL's query, decoded.
    public var query: [NamedValue] { URLText(url).query.map { NamedValue.list(ofForm: $0) } ?? [] }
}
