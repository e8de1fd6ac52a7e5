import Foundation
import LoadingKitHTTP2
import LoadingKitPrimitives

/// The head of a request in HTTP/2's form (RFC 9113 §8.3.1).
extension HTTPExchange {
    func http2Head(with body: RequestBody) -> HTTP2RequestHead {
        let host = transaction.fields[.host]
        return HTTP2RequestHead(
            method: upgrade == nil ? method : "CONNECT", scheme: scheme,
            authority: host ?? destination?.origin.authority ?? "", path: requestTarget,
            connectProtocol: upgrade?.name, fields: http2Fields(hasHost: host != nil, with: body))
    }

    private var scheme: String { target?.origin.isSecure == false ? "http" : "https" }

    /// The fields of both versions, the body's length and the priority.
    ///
    /// - Parameter hasHost: whether a caller's `Host` is among them, which `:authority` says.
    private func http2Fields(hasHost: Bool, with body: RequestBody) -> HTTPFields {
        var fields = transaction.fields
        if hasHost { fields.remove(.host) }
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
