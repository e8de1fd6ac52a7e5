import Foundation
import LoadingKitContentCoding
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

/// Puts together the fields of a session's requests: the caller's, the session's, and the system's.
struct RequestFields {
    /// Fields that frame the message or concern the connection; a caller's are dropped (RFC 9110 §7.6.1).
    private static let reserved: [KnownField] = [
        .connection, .contentLength, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
    ]

    static let userAgent = "\(ProcessInfo.processInfo.processName) LoadingKit/1.0"

    private let settings: SessionSettings
    /// What a request that brings neither fields nor a body is sent with, for the last origin that had one: most do, and
    /// most go where the one before went.
    private var plain: (origin: Origin, fields: HTTPFields)?

    init(_ settings: SessionSettings) { self.settings = settings }

    mutating func make(_ request: URLRequest, _ origin: Origin) -> HTTPFields {
        guard request.isPlain else { return assemble(request, origin) }
        if let plain, plain.origin == origin { return plain.fields }
        let fields = assemble(request, origin)
        plain = (origin, fields)
        return fields
    }

    private func assemble(_ request: URLRequest, _ origin: Origin) -> HTTPFields {
        var fields = request.fields
        for name in Self.reserved where fields.contains(name) { fields.remove(name) }
        for (name, value) in settings.httpAdditionalHeaders ?? [] where !fields.contains(name: name) {
            fields.append(name: name, value: value)
        }
        for name in Self.reserved where settings.httpAdditionalHeaders != nil && fields.contains(name) {
            fields.remove(name)
        }
        if !fields.contains(.host) { fields.append(.host, origin.authority) }
        if !fields.contains(.accept) { fields.append(.accept, "*/*") }
        if !fields.contains(.acceptEncoding) { fields.append(.acceptEncoding, ContentDecoder.acceptEncoding) }
        if !fields.contains(.userAgent) { fields.append(.userAgent, Self.userAgent) }
        if request.hasBody, !fields.contains(.contentType) {
            fields.append(.contentType, "application/x-www-form-urlencoded")
        }
        fields.trimValues()
        return fields
    }
}

extension URLRequest {
    fileprivate var isPlain: Bool { fields.isEmpty && !hasBody }
}
