import Foundation
import LoadingKitContentCoding
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

/// Puts together the fields of a request: the caller's, the session's, and the system's.
enum RequestFields {
    /// Fields that frame the message or concern the connection; a caller's are dropped (RFC 9110 §7.6.1).
    private static let reserved: [KnownField] = [
        .connection, .contentLength, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
    ]

    private static let userAgent = "\(ProcessInfo.processInfo.processName) LoadingKit/1.0"

    static func make(_ request: URLRequest, _ origin: Origin, _ settings: SessionSettings) -> HTTPFields {
        var fields = request.fields
        for name in reserved where fields.contains(name) { fields.remove(name) }
        for (name, value) in settings.httpAdditionalHeaders ?? [] where !fields.contains(name: name) {
            fields.append(name: name, value: value)
        }
        for name in reserved where settings.httpAdditionalHeaders != nil && fields.contains(name) {
            fields.remove(name)
        }
        if !fields.contains(.host) { fields.append(.host, origin.authority) }
        if !fields.contains(.accept) { fields.append(.accept, "*/*") }
        if !fields.contains(.acceptEncoding) { fields.append(.acceptEncoding, ContentDecoder.acceptEncoding) }
        if !fields.contains(.userAgent) { fields.append(.userAgent, userAgent) }
        if request.httpBody != nil || request.httpBodyStream != nil, !fields.contains(.contentType) {
            fields.append(.contentType, "application/x-www-form-urlencoded")
        }
        fields.trimValues()
        return fields
    }
}
