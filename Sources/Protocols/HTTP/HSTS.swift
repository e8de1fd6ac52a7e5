import Foundation
import LoadingKitCore
import LoadingKitHTTP1

/// HTTP Strict Transport Security (RFC 6797).
enum HSTS {
    /// The request to send: with `https` if the host has required it (§8.3).
    static func applied(to request: URLRequest, _ resources: LoadResources) -> URLRequest {
        guard let secured = securedURL(of: request, by: resources.core.settings.hsts), let url = request.url else {
            return request
        }
        // The task's first URL changes, too: this is not a redirect by a server.
        if resources.task.isFirst(url) { resources.task.firstURL = secured }
        var request = request
        request.url = secured
        return request
    }

    /// The request's URL with `https`; nil where the host has not required it.
    static func securedURL(of request: URLRequest, by store: HSTSStore) -> URL? {
        guard !store.isEmpty, let url = request.url, url.hasScheme("http"), let host = url.host,
            store.requiresSecureConnection(to: URLHost.canonical(host))
        else { return nil }
        return url.withHTTPS
    }

    /// Stores the policy that a response announces, if the server's certificate was verified (§8.1).
    static func note(_ head: ResponseHead, from origin: Origin, in settings: SessionSettings) {
        guard origin.isSecure, let value = head.fields.values(of: .strictTransportSecurity).first else { return }
        if settings.verifiesServer { settings.hsts.note(value, from: origin.host) }
    }
}

extension HTTPExchange {
    /// The failure of a request that would be sent, or sent again, in cleartext: its host has required `https` since it
    /// began. The task loads the request anew, by `https`, unless its body is a stream that was read.
    var cleartextFailure: LoadFailure? {
        guard let secured = HSTS.securedURL(of: request, by: session.settings.hsts) else { return nil }
        return LoadFailure(
            .appTransportSecurityRequiresSecureConnection,
            "\(secured.host ?? "the host") has required https (HSTS) since this http request began: "
                + "it is not sent by http any more",
            needsNewLoad: content.canBeSentAnew(with: request))
    }
}
