import Testing

/// The request's method and body after a redirect, by the Fetch standard.
struct RedirectCase: CustomTestStringConvertible, Sendable {
    let status: Int
    let method: String
    let expected: String
    var keepsBody = false

    var testDescription: String { "\(status) of \(method)" }

    static let all = [
        RedirectCase(status: 301, method: "GET", expected: "GET"),
        RedirectCase(status: 301, method: "POST", expected: "GET"),
        RedirectCase(status: 301, method: "PUT", expected: "PUT", keepsBody: true),
        RedirectCase(status: 302, method: "POST", expected: "GET"),
        RedirectCase(status: 302, method: "HEAD", expected: "HEAD"),
        RedirectCase(status: 303, method: "POST", expected: "GET"),
        RedirectCase(status: 303, method: "PUT", expected: "GET"),
        RedirectCase(status: 303, method: "HEAD", expected: "HEAD"),
        RedirectCase(status: 307, method: "POST", expected: "POST", keepsBody: true),
        RedirectCase(status: 308, method: "POST", expected: "POST", keepsBody: true),
        RedirectCase(status: 308, method: "GET", expected: "GET"),
        RedirectCase(status: 308, method: "DELETE", expected: "DELETE"),
    ]
}
