import Foundation
import LoadingKitCore
import LoadingKitHTTP1

/// HTTP Strict Transport Security (RFC 6797).
enum HSTS {
    /// The request as it is to be made: by `https` where the host has said so (§8.3). Port 80 becomes 443, any other stays.
    static func applied(to request: URLRequest, _ resources: LoadResources) -> URLRequest {
        let store = resources.core.settings.hsts
        guard !store.isEmpty, let url = request.url, url.hasScheme("http"), let host = url.host,
            store.requiresSecureConnection(to: host),
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return request }
        components.scheme = "https"
        if components.port == 80 { components.port = nil }
        guard let secured = components.url else { return request }
        // The task's own origin goes along: this is no redirect of a server's.
        if resources.task.isFirst(url) { resources.task.firstURL = secured }
        var request = request
        request.url = secured
        return request
    }

    /// Stores what a response announces, where the server's certificate was verified (§8.1).
    ///
    /// - Parameter settings: Taken where there is something to store: to copy them with each response costs more than all else
    ///   here.
    static func note(_ head: ResponseHead, from origin: Origin, in settings: @autoclosure () -> SessionSettings) {
        guard origin.isSecure, let value = head.fields.values(of: .strictTransportSecurity).first else { return }
        let settings = settings()
        if settings.verifiesServer { settings.hsts.note(value, from: origin.host) }
    }
}
