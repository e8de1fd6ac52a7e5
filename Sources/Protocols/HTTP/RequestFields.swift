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

    private let additional: [(name: String, value: String)]
    /// The same without credentials: what goes to another origin than the task's own.
    private let additionalElsewhere: [(name: String, value: String)]
    /// What a request that brings neither fields nor a body is sent with, for the last origin that had one: most do, and
    /// most go where the one before went.
    private var plain: (origin: Origin, isElsewhere: Bool, fields: HTTPFields)?

    /// The last that was asked for.
    private var lastWithoutHost: (given: HTTPFields, made: WithoutHost)?

    /// Fields without `Host`, and its value.
    struct WithoutHost {
        let host: String?
        let fields: HTTPFields
    }

    init(_ settings: SessionSettings) {
        additional = settings.httpAdditionalHeaders ?? []
        additionalElsewhere = additional.filter { !URLRequest.isCredentialField($0.name) }
    }

    /// What HTTP/2 has no fields for (RFC 9113 §8.2.2). Most requests have the same fields as the one before, and then the
    /// same memory.
    mutating func withoutHost(_ fields: HTTPFields) -> WithoutHost {
        if let last = lastWithoutHost, last.given.isIdentical(to: fields) { return last.made }
        var rest = fields
        rest.remove(.host)
        rest.remove(.connection)
        let made = WithoutHost(host: fields[.host], fields: rest)
        lastWithoutHost = (fields, made)
        return made
    }

    /// Whether the session has credentials to add.
    var addsCredentials: Bool { additional.count != additionalElsewhere.count }

    /// The session's credentials go to the origin that the task was made for, and to no other that it is led to.
    mutating func make(_ request: URLRequest, _ origin: Origin, for task: URLSessionTask) -> HTTPFields {
        let isElsewhere = addsCredentials && request.url.map { task.isFirst($0) } != true
        guard request.isPlain else { return assemble(request, origin, isElsewhere) }
        if let plain, plain.origin == origin, plain.isElsewhere == isElsewhere { return plain.fields }
        let fields = assemble(request, origin, isElsewhere)
        plain = (origin, isElsewhere, fields)
        return fields
    }

    private func assemble(_ request: URLRequest, _ origin: Origin, _ isElsewhere: Bool) -> HTTPFields {
        var fields = request.fields
        for name in Self.reserved where fields.contains(name) { fields.remove(name) }
        for (name, value) in isElsewhere ? additionalElsewhere : additional where !fields.contains(name: name) {
            fields.append(name: name, value: value)
        }
        for name in Self.reserved where !additional.isEmpty && fields.contains(name) { fields.remove(name) }
        if !fields.contains(.host) { fields.append(.host, origin.authority) }
        if !fields.contains(.accept) { fields.append(.accept, "*/*") }
        if !fields.contains(.acceptEncoding) {
            // A part of what is coded cannot be decoded: the Fetch standard, "HTTP-network-or-cache fetch".
            fields.append(.acceptEncoding, fields.contains(.range) ? "identity" : ContentDecoder.acceptEncoding)
        }
        // Some servers say for how long then.
        fields.append(.connection, "keep-alive")
        if !fields.contains(.userAgent) { fields.append(.userAgent, Self.userAgent) }
        if request.hasContentToName, !fields.contains(.contentType) {
            fields.append(.contentType, "application/x-www-form-urlencoded")
        }
        fields.trimValues()
        return fields
    }
}

extension URLRequest {
    fileprivate var isPlain: Bool { fields.isEmpty && !hasBody }

    /// Whether a body goes out that needs a type: an empty one does not, nor is one expected of a GET.
    fileprivate var hasContentToName: Bool { hasBody && httpMethod != "GET" && httpBody?.isEmpty != true }
}
