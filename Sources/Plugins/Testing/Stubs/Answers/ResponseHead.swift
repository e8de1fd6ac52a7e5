import Foundation
import LoadingKit

/// A response that a test's handler made up. As with a server's, the length of a coded body says nothing of the bytes that
/// the program gets.
final class MadeUpResponse: HTTPURLResponse, @unchecked Sendable {  // no state of its own
    override var expectedContentLength: Int64 {
        value(forHTTPHeaderField: "Content-Encoding") == nil ? super.expectedContentLength : -1
    }

    /// Nil where the status or a field cannot be one.
    ///
    /// - Parameter fields: values of one name are joined with commas.
    static func make(_ url: URL, status: Int, fields: [NamedValue]) -> MadeUpResponse? {
        var joined: [String: NamedValue] = [:]
        for field in fields {
            let key = field.name.lowercased()
            if let earlier = joined[key] {
                joined[key] = NamedValue(name: earlier.name, value: "\(earlier.value), \(field.value)")
            } else {
                joined[key] = field
            }
        }
        return MadeUpResponse(
            url: url, statusCode: status, httpVersion: "HTTP/1.1",
            headerFields: Dictionary(joined.values.map { ($0.name, $0.value) }) { $1 })
    }

    /// Whether a response to this method, with this status, has a body (RFC 9110 §6.4.1).
    static func hasBody(method: String, status: Int) -> Bool {
        method != "HEAD" && status != 204 && status != 304 && !(100..<200).contains(status)
    }
}

/// The request that a redirect leads to (RFC 9110 §15.4).
enum RedirectTarget {
    /// Nil where the response is no redirect.
    static func request(after request: ReceivedRequest, status: Int, location: String?) -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(status), let location, !location.isEmpty,
            let url = URL(string: location, relativeTo: request.url)?.absoluteURL
        else { return nil }
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

    /// The old URL's fragment goes along unless the new one has its own (RFC 9110 §10.2.2).
    private static func withFragment(of old: URL, _ url: URL) -> URL {
        guard url.fragment == nil, let fragment = old.fragment else { return url }
        return URL(string: "\(url.absoluteString)#\(fragment)") ?? url
    }
}
