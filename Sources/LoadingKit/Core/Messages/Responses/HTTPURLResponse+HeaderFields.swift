import Foundation
import LoadingKitPrimitives

extension HTTPURLResponse {
    /// The fields in the order in which they were received, each as often as it was, with the names as they were spelled.
    ///
    /// ``allHeaderFields`` joins what is repeated, which `Set-Cookie` does not bear (RFC 9110 §5.3), and has no order.
    public var headerFields: [(name: String, value: String)] { fields.map { ($0.name, $0.value) } }

    /// Makes a response with fields that have an order, and may be repeated.
    ///
    /// - Parameters:
    ///   - url: The request's URL.
    ///   - statusCode: The status code.
    ///   - httpVersion: The version of the protocol. Default `HTTP/1.1`.
    ///   - headerFields: The fields. Those without a name are left out.
    ///   - expectedContentLength: The bytes of the body, as the program gets it; -1 where it is not known. Default: that of
    ///     `Content-Length`, unless the content is coded.
    public convenience init(
        url: URL, statusCode: Int, httpVersion: String = "HTTP/1.1", headerFields: [(name: String, value: String)],
        expectedContentLength: Int64? = nil
    ) {
        let fields = HTTPFields(list: headerFields)
        self.init(
            url: url, statusCode: statusCode, httpVersion: httpVersion, fields: fields,
            expectedContentLength: expectedContentLength ?? Self.decodedLength(in: fields))
    }

    private static func decodedLength(in fields: HTTPFields) -> Int64 {
        fields.contains(.contentEncoding) ? -1 : contentLength(in: fields) ?? -1
    }
}

extension URLRequest {
    /// The header fields in the order in which they are sent, each as often as it is, with the names as they are spelled.
    ///
    /// ``allHTTPHeaderFields`` joins what is repeated, and has no order. The session puts the fields that it adds behind these,
    /// and drops those that are its own. Setting replaces all fields; those without a name are left out, and of several `Host`
    /// the last counts.
    public var headerFields: [(name: String, value: String)] {
        get { fields.map { ($0.name, $0.value) } }
        set {
            var fields = HTTPFields(list: newValue)
            if let host = newValue.last(where: { $0.name.equalsIgnoringASCIICase("host") }) {
                fields.set(.host, host.value)
            }
            self.fields = fields
        }
    }
}

extension HTTPFields {
    /// Those that have a name, in their order.
    init(list: [(name: String, value: String)]) {
        self.init()
        for (name, value) in list where !name.isEmpty { append(name: name, value: value) }
    }
}
