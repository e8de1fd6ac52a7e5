import Foundation
import LoadingKitPrimitives

/// The coded form of a request, for the journal of background sessions and for other processes: all of a ``URLRequest``
/// except a stream, which cannot be stored.
///
/// A later version may add optional properties, so that each version can read the requests of the others.
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

    /// Nil for a request without a URL. The request's stream or file is not included.
    package init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        message = Message(
            url: url.absoluteString, method: request.httpMethod ?? "GET", fields: TransferFields(request.fields),
            body: request.httpBody)
        rules = RequestRules(request)
    }

    /// Nil where the URL is not valid.
    package var request: URLRequest? {
        guard let url = URL(string: message.url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = message.method
        request.fields = message.fields.fields
        request.httpBody = message.body
        rules.apply(to: &request)
        return request
    }

    /// The request of a redirect, which is stored and sent without its body. Where the method is the same, the body is that
    /// of the earlier request.
    package func request(redirectedFrom earlier: URLRequest?) -> URLRequest? {
        var next = request
        if message.body == nil, next?.httpMethod == earlier?.httpMethod { next?.httpBody = earlier?.httpBody }
        return next
    }

    // The rules are members of the same object, as in the first version of this format.

    package init(from decoder: any Decoder) throws {
        message = try Message(from: decoder)
        rules = try RequestRules(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try message.encode(to: encoder)
        try rules.encode(to: encoder)
    }
}

/// The coded form of a response, for the journal of background sessions and for other processes.
package struct TransferResponse: Codable, Hashable, Sendable {
    /// The properties of an HTTP response.
    package struct Head: Codable, Hashable, Sendable {
        package var statusCode: Int
        package var httpVersion: String
        package var fields: TransferFields
        /// Nil where the response has none, or an earlier version has written it.
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

    /// Nil where the URL is not valid.
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

/// Header fields in order. Each byte of a value is a character of ISO 8859-1, so that every value can be represented.
package struct TransferFields: Codable, Hashable, Sendable {
    private var pairs: [[String]]

    package init(_ fields: HTTPFields) {
        pairs = fields.indices.map { index in
            fields.withBytes(at: index) { name, value, _ in [Self.text(name), Self.text(value)] }
        }
    }

    /// Ignores pairs that are not valid fields.
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

    /// The text in ISO 8859-1, without characters that it does not have.
    private static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
    }
}
