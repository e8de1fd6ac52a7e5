import LoadingKitPrimitives

/// What this side may send (RFC 9113 §8.2, §8.3). Errors end nothing: nothing has been sent.
enum SendRules {
    static func check(_ fields: HTTPFields) throws(HTTP2Error) {
        for index in fields.indices {
            let problem = fields.withBytes(at: index) { name, value, known -> HTTP2Error.Kind? in
                if ConnectionFields.contains(known, value) { return .connectionFieldSent }
                return FieldBytes.isToken(name) && FieldBytes.isValue(value) ? nil : .invalidValue
            }
            if let problem { throw HTTP2Error(problem, .call) }
        }
    }

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
        try check(head.fields)
    }
}
