import Foundation
import LoadingKit

extension URLSession {
    /// Loads a request, and decodes the response's JSON.
    ///
    ///     let user = try await session.json(User.self, for: request)
    ///
    /// `Accept` becomes `application/json` where the request has none. The response's content type is not checked.
    /// `URLSessionConfiguration.maximumCollectedBodySize` limits the body in memory.
    ///
    /// - Parameters:
    ///   - statuses: the statuses that are a success; 200 to 299 by default. Other schemes than HTTP have none: a
    ///     success.
    ///   - delegate: a delegate for this load only, called before the session's.
    /// - Throws: ``JSONLoadError`` for another status, or a body that cannot be decoded; otherwise the errors of
    ///   `data(for:)`.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, for request: URLRequest, decoder: JSONDecoder = JSONDecoder(),
        statuses: Range<Int> = 200..<300, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> Value {
        var request = request
        if request.value(forHTTPHeaderField: "Accept") == nil {
            request.setValue("application/json", forHTTPHeaderField: "Accept")
        }
        let (data, response) = try await data(for: request, delegate: delegate)
        if let status = (response as? HTTPURLResponse)?.statusCode, !statuses.contains(status) {
            throw JSONLoadError(.status, data, response)
        }
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw JSONLoadError(.undecodable(error), data, response)
        }
    }

    /// Loads a URL, and decodes the response's JSON; see ``json(_:for:decoder:statuses:delegate:)``.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, from url: URL, decoder: JSONDecoder = JSONDecoder(),
        statuses: Range<Int> = 200..<300, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> Value {
        try await json(type, for: URLRequest(url: url), decoder: decoder, statuses: statuses, delegate: delegate)
    }
}

/// The error for a response that is not the requested JSON.
public struct JSONLoadError: Error, Sendable, LocalizedError, CustomStringConvertible {
    /// The reason for the error.
    public enum Kind: Sendable {
        /// The status is not a success.
        case status
        /// The body is not JSON, or does not match the type; the decoder's error.
        case undecodable(any Error)
    }

    /// The largest number of the body's bytes in an error.
    public static let maximumBodySize = 1024

    /// The reason for the error.
    public let kind: Kind
    /// The HTTP status; nil for another scheme.
    public let status: Int?
    /// The URL of the response, after redirects.
    public let url: URL?
    /// The response's content type.
    public let mimeType: String?
    /// The first 1,024 bytes of the body.
    public let firstBytes: Data
    /// The number of bytes in the complete body.
    public let bodySize: Int

    init(_ kind: Kind, _ data: Data, _ response: URLResponse) {
        self.kind = kind
        status = (response as? HTTPURLResponse)?.statusCode
        url = response.url
        mimeType = response.mimeType
        firstBytes = Data(data.prefix(Self.maximumBodySize))
        bodySize = data.count
    }

    /// The description in plain words, with the body's beginning as text, without control characters.
    public var description: String {
        let source = status.map { "the response with status \($0)" } ?? "the response"
        let problem =
            switch kind {
            case .status: "\(source) is no success"
            case .undecodable(let error): "\(source) cannot be decoded: \(error)"
            }
        let text = String(decoding: firstBytes.prefix(200), as: UTF8.self).unicodeScalars
            .map { $0.value < 0x20 || $0.value == 0x7f ? " " : String($0) }.joined()
        return "\(problem); \(bodySize) bytes of \(mimeType ?? "no type"): \(text)"
    }

    /// The description.
    public var errorDescription: String? { description }
}

extension URLRequest {
    /// Sets the request's body to a value's JSON, and `Content-Type: application/json`. The method `GET` becomes
    /// `POST`; `Accept` becomes `application/json` where the request has none.
    ///
    /// - Throws: the encoder's errors. The request is then unchanged.
    public mutating func setJSON(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws {
        let body = try encoder.encode(value)
        if httpMethod == "GET" { httpMethod = "POST" }
        setValue("application/json", forHTTPHeaderField: "Content-Type")
        setValue(nil, forHTTPHeaderField: "Content-Length")
        if self.value(forHTTPHeaderField: "Accept") == nil {
            setValue("application/json", forHTTPHeaderField: "Accept")
        }
        httpBody = body
    }
}
