import Foundation
import LoadingKitPrimitives

/// A request as it is kept in the journal of background sessions, and sent to another process: all of a ``URLRequest`` but a
/// stream, which cannot be kept.
///
/// A later version may add properties. They are optional, so that each version reads what another has written.
@dynamicMemberLookup
package struct TransferRequest: Codable, Hashable, Sendable {
    package struct Message: Codable, Hashable, Sendable {
        package var url: String
        package var method: String
        package var fields: TransferFields
        package var body: Data?
    }

    private var message: Message
    package var rules: RequestRules

    package subscript<Value>(dynamicMember member: WritableKeyPath<Message, Value>) -> Value {
        get { message[keyPath: member] }
        set { message[keyPath: member] = newValue }
    }

    /// Nil for a request without a URL. A stream or a file of the request is left out.
    package init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        message = Message(
            url: url.absoluteString, method: request.httpMethod ?? "GET", fields: TransferFields(request.fields),
            body: request.httpBody)
        rules = RequestRules(request)
    }

    /// Nil where the URL is none.
    package var request: URLRequest? {
        guard let url = URL(string: message.url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = message.method
        request.fields = message.fields.fields
        request.httpBody = message.body
        rules.apply(to: &request)
        return request
    }

    // The rules stand beside the rest, as they did before they had a type of their own.

    package init(from decoder: any Decoder) throws {
        message = try Message(from: decoder)
        rules = try RequestRules(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try message.encode(to: encoder)
        try rules.encode(to: encoder)
    }
}

/// A response as it is kept in the journal of background sessions, and sent to another process.
package struct TransferResponse: Codable, Hashable, Sendable {
    /// The properties that only an HTTP response has.
    package struct Head: Codable, Hashable, Sendable {
        package var statusCode: Int
        package var httpVersion: String
        package var fields: TransferFields
        /// Nil where none have come, or in what an earlier version has written.
        package var trailers: TransferFields?
    }

    package var url: String
    package var expectedContentLength: Int64
    package var mimeType: String?
    package var textEncodingName: String?
    package var head: Head?

    /// Nil for a response without a URL.
    package init?(_ response: URLResponse) {
        guard let url = response.url else { return nil }
        self.url = url.absoluteString
        expectedContentLength = response.expectedContentLength
        mimeType = response.mimeType
        textEncodingName = response.textEncodingName
        head = (response as? HTTPURLResponse).map {
            Head(
                statusCode: $0.statusCode, httpVersion: $0.httpVersion, fields: TransferFields($0.fields),
                trailers: $0.trailers.map { TransferFields($0) })
        }
    }

    /// Nil where the URL is none.
    package var response: URLResponse? {
        guard let url = URL(string: url) else { return nil }
        guard let head else {
            return URLResponse(
                url: url, mimeType: mimeType, expectedContentLength: Int(clamping: expectedContentLength),
                textEncodingName: textEncodingName)
        }
        let response = HTTPURLResponse(
            url: url, statusCode: head.statusCode, httpVersion: head.httpVersion, fields: head.fields.fields,
            expectedContentLength: expectedContentLength)
        response.trailers = head.trailers?.fields
        return response
    }
}

/// Header fields in their order. Each byte of a value is a character of ISO 8859-1, so that any value is kept as it is.
package struct TransferFields: Codable, Hashable, Sendable {
    private var pairs: [[String]]

    package init(_ fields: HTTPFields) {
        pairs = fields.indices.map { index in
            fields.withBytes(at: index) { name, value, _ in [Self.text(name), Self.text(value)] }
        }
    }

    /// Pairs that are none are passed over.
    package var fields: HTTPFields {
        var fields = HTTPFields()
        for pair in pairs where pair.count == 2 {
            let (name, value) = (Self.bytes(pair[0]), Self.bytes(pair[1]))
            name.withUnsafeBytes { name in
                value.withUnsafeBytes { fields.append(nameBytes: name, valueBytes: $0) }
            }
        }
        return fields
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return text
    }

    /// The text in ISO 8859-1. Other characters are left out.
    private static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
    }
}
