import Foundation
import LoadingKitCore
import LoadingKitHTTP1

/// Cookies on the wire (RFC 6265bis §5.7, §5.8).
extension HTTPExchange {
    /// Adds the session's cookies to the request, perhaps later: a program's own cookie storage may take its time.
    func addCookies() {
        transaction.sendsStoredCookies = false
        guard session.settings.httpShouldSetCookies, let storage = cookieStorage, !storage.isEmpty,
            !transaction.fields.contains(.cookie),
            let context = CookieContext(request, for: resources.task)
        else { return cookiesDidCome() }
        storage.getCookieField(for: context, of: resources.task) { [loop] value in
            if loop.isCurrent { self.add(cookies: value) } else { loop.execute { self.add(cookies: value) } }
        }
    }

    private func add(cookies value: String?) {
        // The task may have ended meanwhile.
        guard receiver != nil else { return }
        if let value {
            transaction.fields.append(.cookie, value)
            transaction.sendsStoredCookies = true
            note(.cookiesSent, Self.names(ofCookies: value))
        }
        cookiesDidCome()
    }

    func storeCookies(of head: ResponseHead) {
        guard head.fields.contains(.setCookie), let storage = cookieStorage,
            let context = CookieContext(request, for: resources.task)
        else { return }
        storage.storeCookies(
            in: head.fields, of: context, for: resources.task, policy: session.settings.httpCookieAcceptPolicy
        ) { name, refusal in note(refusal.map { .cookieRefused($0) } ?? .cookieStored, name) }
    }

    /// The names in the value of a `Cookie` field. By scalars: an equals sign forms one character with a combining mark
    /// behind it, and a value may be secret.
    private static func names(ofCookies value: String) -> String {
        value.unicodeScalars.split(separator: ";")
            .map { pair in String(pair.prefix { $0 != "=" }).trimmingCharacters(in: .whitespaces) }
            .joined(separator: ", ")
    }

    var cookieStorage: HTTPCookieStorage? { request.httpShouldHandleCookies ? session.settings.httpCookieStorage : nil }
}

extension CookieContext {
    /// A task is a top-level navigation if its first request was for the main document itself.
    init?(_ request: URLRequest, for task: URLSessionTask) {
        let original = task.originalRequest
        let isTopLevel = original?.mainDocumentURL != nil && original?.mainDocumentURL == original?.url
        self.init(request, isTopLevelNavigation: isTopLevel)
    }
}
