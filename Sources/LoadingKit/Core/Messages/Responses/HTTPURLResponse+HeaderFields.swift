import Foundation
import LoadingKitPrimitives

extension HTTPURLResponse {
    /// The fields in the order in which they were received, including repeated fields, with the received spelling of
    /// their names.
    ///
    /// ``allHeaderFields`` joins repeated fields, which is not valid for `Set-Cookie` (RFC 9110 §5.3), and has no
    /// order.
    public var headerFields: [(name: String, value: String)] { fields.map { ($0.name, $0.value) } }

    /// Makes a response with ordered fields, which may be repeated.
    ///
    /// - Parameters:
    ///   - url: The request's URL.
    ///   - statusCode: The status code.
    ///   - httpVersion: The protocol version. Default `HTTP/1.1`.
    ///   - headerFields: The fields. Fields without a name are left out.
    ///   - expectedContentLength: The number of bytes of the body, as the program gets it; -1 where it is not known.
    ///     Default: the value of `Content-Length`, unless the content is coded.
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
    /// The header fields in the order in which they are sent, including repeated fields, with the given spelling of
    /// their names.
    ///
    /// ``allHTTPHeaderFields`` joins repeated fields, and has no order. The session adds its own fields after these,
    /// and drops fields that only the session may set. Setting this property replaces all fields; fields without a name
    /// are left out, and of several `Host` fields the last counts.
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
    /// The fields that have a name, in their order.
    init(list: [(name: String, value: String)]) {
        self.init()
        for (name, value) in list where !name.isEmpty { append(name: name, value: value) }
    }
}
