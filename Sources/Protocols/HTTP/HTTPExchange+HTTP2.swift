import Foundation
import LoadingKitCore
import LoadingKitHTTP2
import LoadingKitPrimitives

/// The head of a request as HTTP/2 has it (RFC 9113 §8.3.1).
extension HTTPExchange {
    var http2Head: HTTP2RequestHead {
        let given = pool.withoutHost(fields)
        let authority = given.host ?? target?.origin.authority ?? ""
        let fields = http2Fields(given.fields)
        if let upgrade {
            return HTTP2RequestHead(
                method: "CONNECT", scheme: scheme, authority: authority, path: requestTarget,
                connectProtocol: upgrade.name, fields: fields)
        }
        return HTTP2RequestHead(
            method: method, scheme: scheme, authority: authority, path: requestTarget, fields: fields)
    }

    private var scheme: String { target?.origin.isSecure == false ? "http" : "https" }

    /// With the body's length and the priority.
    private func http2Fields(_ given: HTTPFields) -> HTTPFields {
        var fields = given
        if body.expectedCount > 0 || (body.expectedCount == 0 && ["POST", "PUT", "PATCH"].contains(method)) {
            fields.append(.contentLength, "\(body.expectedCount)")
        }
        if let value = RequestPriority.fieldValue(priority), !fields.contains(name: "priority") {
            fields.append(name: "priority", value: value)
        }
        return fields
    }
}
