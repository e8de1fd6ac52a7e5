import Foundation
import LoadingKitPrimitives

/// A request as it is kept in the journal of background sessions, and sent to another process: all of a ``URLRequest`` but a
/// stream, which cannot be kept.
///
/// A later version may add properties. They are optional, so that each version reads what another has written.
package struct TransferRequest: Codable, Hashable, Sendable {
    package var url: String
    package var method: String
    package var fields: TransferFields
    package var body: Data?
    package var rules: RequestRules

    /// In seconds; nil: the session's.
    package var timeout: TimeInterval? {
        get { rules.timeout }
        set { rules.timeout = newValue }
    }

    /// Nil for a request without a URL. A stream or a file of the request is left out.
    package init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.url = url.absoluteString
        method = request.httpMethod ?? "GET"
        fields = TransferFields(request.fields)
        body = request.httpBody
        rules = RequestRules(request)
    }

    /// Nil where the URL is none.
    package var request: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.fields = fields.fields
        request.httpBody = body
        rules.apply(to: &request)
        return request
    }
}

/// The rules stand beside the rest, as they did before they had a type of their own.
extension TransferRequest {
    private enum CodingKeys: CodingKey {
        case url, method, fields, body
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        url = try container.decode(String.self, forKey: .url)
        method = try container.decode(String.self, forKey: .method)
        fields = try container.decode(TransferFields.self, forKey: .fields)
        body = try container.decodeIfPresent(Data.self, forKey: .body)
        rules = try RequestRules(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(url, forKey: .url)
        try container.encode(method, forKey: .method)
        try container.encode(fields, forKey: .fields)
        try container.encodeIfPresent(body, forKey: .body)
        try rules.encode(to: encoder)
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

    /// What is no character of ISO 8859-1 is left out.
    private static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
    }
}
