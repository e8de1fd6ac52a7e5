import Foundation
import LoadingKitCore
import LoadingKitHTTP2
import LoadingKitPrimitives

/// The head of a request as HTTP/2 has it (RFC 9113 §8.3.1).
extension HTTPExchange {
    var http2Head: HTTP2RequestHead {
        let authority = pool.withoutHost(fields).host ?? target?.origin.authority ?? ""
        if let upgrade {
            return HTTP2RequestHead(
                method: "CONNECT", scheme: scheme, authority: authority, path: requestTarget,
                connectProtocol: upgrade.name, fields: http2Fields)
        }
        return HTTP2RequestHead(
            method: method, scheme: scheme, authority: authority, path: requestTarget, fields: http2Fields)
    }

    private var scheme: String { target?.origin.isSecure == false ? "http" : "https" }

    /// With the body's length and the priority, and with `:authority` in place of `Host`.
    private var http2Fields: HTTPFields {
        var fields = pool.withoutHost(fields).fields
        if body.expectedCount > 0 || (body.expectedCount == 0 && ["POST", "PUT", "PATCH"].contains(method)) {
            fields.append(.contentLength, "\(body.expectedCount)")
        }
        if let value = RequestPriority.fieldValue(priority), !fields.contains(name: "priority") {
            fields.append(name: "priority", value: value)
        }
        return fields
    }
}
