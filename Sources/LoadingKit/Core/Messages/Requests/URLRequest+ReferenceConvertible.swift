import Foundation

extension URLRequest: ReferenceConvertible {
    /// Whether both requests load the same resource in the same way. Properties of protocol handlers do not count.
    public static func == (lhs: URLRequest, rhs: URLRequest) -> Bool { lhs.storage == rhs.storage }

    /// Hashes the URLs, the method and the stream.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage.url)
        hasher.combine(storage.method)
        hasher.combine(storage.mainDocumentURL)
        hasher.combine(httpBodyStream.map { ObjectIdentifier($0) })
    }

    /// The URL; `url: nil` where there is none.
    public var description: String { url?.description ?? "url: nil" }

    /// The same as ``description``.
    public var debugDescription: String { description }
}

/// Used by `request as NSURLRequest`, by `object as URLRequest`, and by casts of `Any` from one to the other. The
/// properties that protocol handlers store with the request are kept.
extension URLRequest: _ObjectiveCBridgeable {
    /// The same request as an immutable object.
    public func _bridgeToObjectiveC() -> NSURLRequest { NSURLRequest(request: self) }

    /// The object's request.
    public static func _forceBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) {
        result = source.request
    }

    /// The object's request; never nil.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) -> Bool {
        result = source.request
        return true
    }

    /// The object's request. The object must not be nil.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        // The compiler never passes nil: only a call in source code can.
        guard let source else { preconditionFailure("A URLRequest cannot be made from nil") }
        return source.request
    }
}

extension URLRequest: CustomReflectable {
    /// The properties by name, for debuggers and `dump`.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "url": url as Any,
            "cachePolicy": cachePolicy,
            "timeoutInterval": timeoutInterval,
            "mainDocumentURL": mainDocumentURL as Any,
            "networkServiceType": networkServiceType,
            "allowsCellularAccess": allowsCellularAccess,
            "httpMethod": httpMethod as Any,
            "allHTTPHeaderFields": allHTTPHeaderFields as Any,
            "httpBody": httpBody as Any,
            "httpBodyStream": httpBodyStream as Any,
            "httpShouldHandleCookies": httpShouldHandleCookies,
            "httpShouldUsePipelining": httpShouldUsePipelining,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
