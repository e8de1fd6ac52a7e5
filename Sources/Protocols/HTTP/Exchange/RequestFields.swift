import Foundation
import LoadingKitContentCoding
import LoadingKitCore
import LoadingKitPrimitives

/// Combines the fields of a session's requests: the caller's, the session's, and the system's.
struct RequestFields {
    /// Fields that frame the message or concern the connection. A caller's own are dropped (RFC 9110 §7.6.1).
    private static let reserved: [KnownField] = [
        .connection, .contentLength, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
    ]

    static let userAgent = "\(ProcessInfo.processInfo.processName) LoadingKit/1.0"

    private let additional: [(name: String, value: String)]
    /// The same without credentials, for origins other than the one for which the task was made.
    private let additionalElsewhere: [(name: String, value: String)]

    /// The names of fields that are not added, in lower case.
    private let omitted: Set<String>

    init(_ settings: SessionSettings) {
        omitted = settings.omittedFields
        additional = settings.httpAdditionalHeaders ?? []
        additionalElsewhere = additional.filter { !URLRequest.isCredentialField($0.name) }
    }

    var addsCredentials: Bool { additional.count != additionalElsewhere.count }

    /// Makes the fields that all plain requests to an origin have, in every version of HTTP. ``OriginRecord`` keeps
    /// them for the next such request, so a value that differs between tasks or requests must not be added here.
    ///
    /// - Parameter isElsewhere: whether the task was made for another origin, and redirected to this one. This one does
    ///   not get the session's credentials.
    func make(_ request: URLRequest, isElsewhere: Bool) -> HTTPFields {
        var fields = request.fields
        for name in Self.reserved where fields.contains(name) { fields.remove(name) }
        for (name, value) in isElsewhere ? additionalElsewhere : additional where !fields.contains(name: name) {
            fields.append(name: name, value: value)
        }
        for name in Self.reserved where !additional.isEmpty && fields.contains(name) { fields.remove(name) }
        if !fields.contains(.accept), adds("accept") { fields.append(.accept, "*/*") }
        if !fields.contains(.acceptEncoding), adds("accept-encoding") {
            // A range of coded content cannot be decoded: the Fetch standard, "HTTP-network-or-cache fetch".
            fields.append(.acceptEncoding, fields.contains(.range) ? "identity" : ContentDecoder.acceptEncoding)
        }
        if !fields.contains(.userAgent), adds("user-agent") { fields.append(.userAgent, Self.userAgent) }
        if request.hasContentToName, !fields.contains(.contentType), adds("content-type") {
            fields.append(.contentType, "application/x-www-form-urlencoded")
        }
        fields.trimValues()
        return fields
    }
}

extension RequestFields {
    private func adds(_ name: String) -> Bool { omitted.isEmpty || !omitted.contains(name) }
}

extension URLRequest {
    var isPlain: Bool { fields.isEmpty && !hasBody }

    /// Whether the request's body needs a type. An empty body needs none, and servers do not expect one of a GET.
    fileprivate var hasContentToName: Bool { hasBody && httpMethod != "GET" && httpBody?.isEmpty != true }
}
