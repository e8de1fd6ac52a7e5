import Foundation
@_spi(LoadingKitPlugins) import LoadingKitCore
import LoadingKitPrimitives

/// The target of a redirect response, and the request for it (RFC 9110 §15.4).
struct Redirect {
    let request: URLRequest
    /// The reason why the request may not be loaded unchanged. The program may still have another request loaded, or
    /// none.
    let refusal: LoadFailure?

    /// Nil if the response is no redirect: it has another status, or no `Location`.
    ///
    /// - Parameters:
    ///   - settings: evaluated only if the response is a redirect.
    ///   - mayUpgrade: whether the redirect may also lead to `ws` and `wss`, as for a WebSocket's handshake.
    init?(
        status: Int, _ fields: HTTPFields, of request: URLRequest, in settings: @autoclosure () -> SessionSettings,
        mayUpgrade: Bool = false
    ) throws(LoadFailure) {
        // An empty `Location` is ignored.
        guard [301, 302, 303, 307, 308].contains(status), let old = request.url, let text = fields[.location],
            !text.isEmpty
        else { return nil }
        guard let location = fields.firstURL(of: .location, relativeTo: old) else {
            throw .nowhere("the server redirects to an invalid URL: the Location field has none")
        }
        let url = Self.withFragment(of: old, mayUpgrade ? WebSocketURL.http(location) : location)
        var next = request
        next.url = url
        if !Self.keepsMethod(status, request.httpMethod ?? "GET") { Self.makeGet(&next) }
        var keepsCredentials = false
        do {
            keepsCredentials = try Self.isSameOrigin(url, as: RequestTarget(old).origin, in: settings())
            refusal = nil
        } catch {
            refusal = error
        }
        if keepsCredentials { next.url = Self.withUser(of: old, url) } else { Self.removeCredentials(&next) }
        self.request = next
    }

    /// Throws if a server may not redirect to the URL.
    private static func isSameOrigin(
        _ url: URL, as old: Origin, in settings: SessionSettings
    ) throws(LoadFailure) -> Bool {
        let origin = try origin(of: url)
        if origin == old { return true }
        // The programs behind such sockets trust every process that can open them.
        if settings.unixSocket?(origin.host) != nil {
            throw .nowhere("the server redirects to a Unix-domain socket, which only the program may request")
        }
        return false
    }

    private static func origin(of url: URL) throws(LoadFailure) -> Origin {
        guard url.hasScheme("http") || url.hasScheme("https") else {
            throw .nowhere("the server redirects to \(url.scheme ?? "no scheme"):, which only the program may request")
        }
        do {
            return try RequestTarget(url).origin
        } catch {
            throw .nowhere("the server redirects to an invalid URL: \(ShownURL.withoutSecrets(url))")
        }
    }

    /// The old URL's fragment is kept unless the new URL has its own (RFC 9110 §10.2.2).
    private static func withFragment(of old: URL, _ url: URL) -> URL {
        guard url.fragment == nil, let fragment = old.fragment(percentEncoded: true) else { return url }
        return URL(string: url.absoluteString + "#" + fragment) ?? url
    }

    /// Keeps the user of the old URL unless the new URL names another, also for a relative `Location` (RFC 3986
    /// §5.2.2).
    private static func withUser(of old: URL, _ url: URL) -> URL {
        guard url.credential == nil, let user = old.user(percentEncoded: true), !user.isEmpty,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url }
        components.percentEncodedUser = user
        components.percentEncodedPassword = old.password(percentEncoded: true)
        return components.url ?? url
    }

    /// Status 303 requires GET. 301 and 302 turn POST into GET, as in every client (RFC 9110 §15.4.2–4).
    private static func keepsMethod(_ status: Int, _ method: String) -> Bool {
        switch status {
        case 303: method == "HEAD" || method == "GET"
        case 301, 302: method != "POST"
        default: true
        }
    }

    private static func makeGet(_ request: inout URLRequest) {
        request.httpMethod = "GET"
        request.httpBody = nil
        request.httpBodyStream = nil
        for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"] {
            request.setValue(nil, forHTTPHeaderField: name)
        }
    }

    private static func removeCredentials(_ request: inout URLRequest) {
        for name in URLRequest.fieldsOfOrigin { request.setValue(nil, forHTTPHeaderField: name) }
    }
}

extension LoadFailure {
    fileprivate static func nowhere(_ text: String) -> LoadFailure { LoadFailure(.redirectToNonExistentLocation, text) }
}
