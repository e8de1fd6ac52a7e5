import Foundation
import LoadingKitCore
import LoadingKitHTTP2
import LoadingKitPrimitives

/// The head of a request as HTTP/2 has it (RFC 9113 §8.3.1).
extension HTTPExchange {
    func http2Head(with body: RequestBody) -> HTTP2RequestHead {
        let given = destination?.origin.withoutHost(transaction.fields) ?? RequestFields.WithoutHost(transaction.fields)
        let authority = given.host ?? destination?.origin.authority ?? ""
        let fields = http2Fields(given.fields, with: body)
        return HTTP2RequestHead(
            method: upgrade == nil ? method : "CONNECT", scheme: scheme, authority: authority, path: requestTarget,
            connectProtocol: upgrade?.name, fields: fields)
    }

    private var scheme: String { target?.origin.isSecure == false ? "http" : "https" }

    /// The fields that the request has in HTTP/2: those given, the body's length and the priority. The counterpart for
    /// HTTP/1.1 is ``addHTTP1Fields(to:)``.
    private func http2Fields(_ given: HTTPFields, with body: RequestBody) -> HTTPFields {
        var fields = given
        let length = body.expectedCount
        if length > 0 || (length == 0 && RequestBody.comes(with: method)) {
            fields.append(.contentLength, "\(length)")
        }
        if let value = RequestPriority.fieldValue(priority), !fields.contains(.priority) {
            fields.append(.priority, value)
        }
        return fields
    }
}
