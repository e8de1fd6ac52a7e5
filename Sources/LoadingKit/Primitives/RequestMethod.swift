/// The properties of request methods (RFC 9110 §9.2). An unknown method has none of them.
package enum RequestMethod {
    /// Whether the request is intended to change nothing on the server (RFC 9110 §9.2.1).
    package static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        case _: false
        }
    }

    /// Whether several identical requests have the effect of one, so that the request may be sent again (RFC 9110
    /// §9.2.2).
    package static func isIdempotent(_ method: String) -> Bool {
        switch method {
        case "PUT", "DELETE": true
        case _: isSafe(method)
        }
    }
}
