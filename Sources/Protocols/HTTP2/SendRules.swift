import LoadingKitPrimitives

/// What this side may send (RFC 9113 §8.2, §8.3). Errors end nothing: nothing has been sent.
enum SendRules {
    static func check(_ fields: HTTPFields) throws(HTTP2Error) {
        let problem = fields.withEntries { entries, bytes -> HTTP2Error.Kind? in
            for entry in entries {
                let value = entry.value(in: bytes)
                if ConnectionFields.contains(entry.known, value) { return .connectionFieldSent }
                guard FieldBytes.isToken(entry.name(in: bytes)), FieldBytes.isValue(value) else { return .invalidValue }
            }
            return nil
        }
        if let problem { throw HTTP2Error(problem, .call) }
    }

    /// Checks a head but for its ``HTTP2RequestHead/fields``.
    static func check(_ head: HTTP2RequestHead, allowsConnectProtocol: Bool) throws(HTTP2Error) {
        var method = head.method
        let isToken = method.withUTF8 { FieldBytes.isToken(UnsafeRawBufferPointer($0)) }
        let hasTarget: Bool
        if head.method == "CONNECT", head.connectProtocol == nil {
            // §8.5: an authority alone.
            hasTarget = head.scheme == nil && head.path == nil && head.authority.map(FieldBytes.isVisible) == true
        } else {
            hasTarget =
                head.scheme.map(FieldBytes.isVisible) == true && head.path.map(FieldBytes.isVisible) == true
                && head.authority.map(FieldBytes.isVisible) != false
        }
        guard isToken, hasTarget else { throw HTTP2Error(.invalidValue, .call) }
        if let name = head.connectProtocol {
            // RFC 8441 §4: with CONNECT, and when the server has said that it understands it.
            guard head.method == "CONNECT", allowsConnectProtocol, FieldBytes.isVisible(name) else {
                throw HTTP2Error(.invalidValue, .call)
            }
        }
    }
}
