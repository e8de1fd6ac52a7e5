import Foundation
@_spi(LoadingKitPlugins) import LoadingKit

/// Determines whether a response has a body.
enum ResponseContent {
    /// Whether a response to this method, with this status, has a body (RFC 9110 §6.4.1).
    static func isThere(method: String, status: Int) -> Bool {
        method != "HEAD" && status != 204 && status != 304 && !(100..<200).contains(status)
    }
}

/// The request that follows a redirect (RFC 9110 §15.4).
enum RedirectTarget {
    /// Nil where the response is not a redirect.
    static func request(after request: ReceivedRequest, _ response: HTTPURLResponse) -> URLRequest? {
        let status = response.statusCode
        guard [301, 302, 303, 307, 308].contains(status), let url = response.redirectURL else { return nil }
        var next = request.request
        next.url = withFragment(of: request.url, url)
        let isChanged = status == 303 ? !["GET", "HEAD"].contains(request.method) : request.method == "POST"
        if status < 307, isChanged {
            next.httpMethod = "GET"
            next.httpBody = nil
            for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"] {
                next.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return next
    }

    /// The old URL's fragment is kept unless the new URL has one (RFC 9110 §10.2.2).
    private static func withFragment(of old: URL, _ url: URL) -> URL {
        guard url.fragment == nil, let fragment = old.fragment(percentEncoded: true) else { return url }
        return URL(string: "\(url.absoluteString)#\(fragment)") ?? url
    }
}
