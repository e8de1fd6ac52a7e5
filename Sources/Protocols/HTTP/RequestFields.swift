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

    /// The last that was asked for.
    private var lastWithoutHost: (given: HTTPFields, made: WithoutHost)?

    /// Fields without `Host`, and its value.
    struct WithoutHost {
        let host: String?
        let fields: HTTPFields
    }

    init(_ settings: SessionSettings) { self.settings = settings }

    /// Most requests have the same fields as the one before, and then the same memory.
    mutating func withoutHost(_ fields: HTTPFields) -> WithoutHost {
        if let last = lastWithoutHost, last.given.isIdentical(to: fields) { return last.made }
        var rest = fields
        rest.remove(.host)
        let made = WithoutHost(host: fields[.host], fields: rest)
        lastWithoutHost = (fields, made)
        return made
    }

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
