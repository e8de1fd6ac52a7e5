import Foundation
import LoadingKitCore
import LoadingKitHTTP1

/// Cookies on the wire (RFC 6265bis §5.7, §5.8).
extension HTTPExchange {
    /// What the request waits for its cookies for.
    enum AfterCookies: Sendable {
        case submit
        /// To be sent again, with what the server requires.
        case restart
    }

    /// Puts the session's cookies on the request and goes on: at once, unless the program has a storage of its own that
    /// takes its time.
    func addCookies(then next: AfterCookies) {
        transaction.sendsStoredCookies = false
        guard session.settings.httpShouldSetCookies, let storage = cookieStorage, !storage.isEmpty,
            !transaction.fields.contains(.cookie),
            let context = CookieContext(request, for: resources.task)
        else { return proceed(next) }
        storage.getCookieField(for: context, of: resources.task) { [loop] value in
            if loop.isCurrent {
                self.add(cookies: value, next)
            } else {
                loop.execute { self.add(cookies: value, next) }
            }
        }
    }

    private func add(cookies value: String?, _ next: AfterCookies) {
        if let value {
            transaction.fields.append(.cookie, value)
            transaction.sendsStoredCookies = true
        }
        proceed(next)
    }

    private func proceed(_ next: AfterCookies) {
        switch next {
        case .submit: submitIfNew()
        case .restart: restart()
        }
    }

    func storeCookies(of head: ResponseHead) {
        guard head.fields.contains(.setCookie), let storage = cookieStorage,
            let context = CookieContext(request, for: resources.task)
        else { return }
        storage.storeCookies(
            in: head.fields, of: context, for: resources.task, policy: session.settings.httpCookieAcceptPolicy)
    }

    var cookieStorage: HTTPCookieStorage? {
        request.httpShouldHandleCookies ? session.settings.httpCookieStorage : nil
    }
}

extension CookieContext {
    /// A task whose first request was for the very page that the user is to see leads there.
    init?(_ request: URLRequest, for task: URLSessionTask) {
        let original = task.originalRequest
        let isTopLevel = original?.mainDocumentURL != nil && original?.mainDocumentURL == original?.url
        self.init(request, isTopLevelNavigation: isTopLevel)
    }
}
