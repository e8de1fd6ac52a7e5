import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
import Synchronization

/// Loads a URL of a Unix-domain socket with the URL that represents the socket in the session.
final class UnixSocketURLs: LoadAdapter {
    /// The name of the servers in the `Host` field.
    private let serverName: String
    /// The last loaded URL: most loads have the same URL as the previous one, or the same socket.
    private let last = Mutex<KnownURL?>(nil)

    init(serverName: String) { self.serverName = serverName }

    func canIntercept(_ request: URLRequest) -> Bool { request.url.map(UnixSocketURL.hasScheme) ?? false }

    func adapt(_ request: URLRequest) throws -> URLRequest {
        guard let url = request.url else { return request }
        var request = request
        request.url = try loadedURL(url)
        return request
    }

    func adapt(_ response: URLResponse, to request: URLRequest) -> URLResponse {
        guard let response = response as? HTTPURLResponse, let url = request.url else { return response }
        return response.replacingURL(by: url)
    }

    /// A redirect to the same socket gets a URL of this scheme again. A server that redirects with an absolute URL
    /// names itself by `serverName`, as it does not know the socket's host.
    func adapt(redirection: URLRequest, of request: URLRequest) throws -> URLRequest {
        guard let url = request.url, let target = redirection.url else { return redirection }
        let socket = try UnixSocketURL(url)
        var redirection = redirection
        if let new = socket.url(for: target, at: socket.host) {
            redirection.url = new
        } else if let new = socket.url(for: target, at: serverName) {
            redirection.url = new
            // The session has removed these fields, because the server's name is another host than the socket's.
            for name in URLRequest.fieldsOfOrigin {
                redirection.setValue(request.value(forHTTPHeaderField: name), forHTTPHeaderField: name)
            }
        }
        return redirection
    }

    private func loadedURL(_ url: URL) throws -> URL {
        let known = last.withLock { $0 }
        if let known, known.url == url { return known.loaded }
        let socket = try known?.socket.sibling(url) ?? UnixSocketURL(url)
        let loaded = try socket.loadedURL()
        last.withLock { $0 = KnownURL(url: url, socket: socket, loaded: loaded) }
        return loaded
    }
}

/// A parsed URL, and the one that is loaded in its place.
private struct KnownURL {
    let url: URL
    let socket: UnixSocketURL
    let loaded: URL
}
