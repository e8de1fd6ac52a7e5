import Foundation
import LoadingKitCore
import LoadingKitHTTP1

/// HTTP Strict Transport Security (RFC 6797).
enum HSTS {
    /// The request to send: with `https` if the host has required it (§8.3).
    static func applied(to request: URLRequest, _ resources: LoadResources) -> URLRequest {
        let store = resources.core.settings.hsts
        guard !store.isEmpty, let url = request.url, url.hasScheme("http"), let host = url.host,
            store.requiresSecureConnection(to: URLHost.canonical(host)), let secured = url.withHTTPS
        else { return request }
        // The task's first URL changes, too: this is not a redirect by a server.
        if resources.task.isFirst(url) { resources.task.firstURL = secured }
        var request = request
        request.url = secured
        return request
    }

    /// Stores the policy that a response announces, if the server's certificate was verified (§8.1).
    static func note(_ head: ResponseHead, from origin: Origin, in settings: SessionSettings) {
        guard origin.isSecure, let value = head.fields.values(of: .strictTransportSecurity).first else { return }
        if settings.verifiesServer { settings.hsts.note(value, from: origin.host) }
    }
}
