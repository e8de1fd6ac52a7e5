import Foundation
import LoadingKitPrimitives

/// What HTTP uses of a storage, for each request and each response, those of redirects included.
extension HTTPCookieStorage {
    /// Whether there is certainly no cookie for any request.
    package var isEmpty: Bool { !isCustomized && state.withLock { $0.jar.count == 0 } }

    /// Whether the program's own code decides which cookies go with a task's requests.
    package var isCustomized: Bool { type(of: self) != HTTPCookieStorage.self }

    /// Gives the value of a request's `Cookie` field, nil when no cookie goes with it.
    ///
    /// Calls back before it returns, unless a subclass of the program's calls back later.
    ///
    /// - Parameters:
    ///   - context: The request as it will be sent.
    ///   - task: The task whose current request it is.
    package func getCookieField(
        for context: CookieContext, of task: URLSessionTask?, _ completion: @escaping @Sendable (String?) -> Void
    ) {
        guard let task, isCustomized else {
            return completion(Self.field(records(for: context) ?? []))
        }
        getCookiesFor(task) { cookies in completion(Self.field(cookies?.map(\.record) ?? [])) }
    }

    /// Stores the cookies that a response's fields set.
    ///
    /// - Parameter policy: The session's accept policy, which applies besides the storage's own.
    package func storeCookies(
        in fields: HTTPFields, of context: CookieContext, for task: URLSessionTask?, policy: HTTPCookie.AcceptPolicy
    ) {
        guard fields.contains(.setCookie) else { return }
        let cookies = HTTPCookie.cookies(in: fields, for: context.url, now: now())
        guard let task, isCustomized else {
            return store(cookies, from: context, policy: policy)
        }
        if !cookies.isEmpty, context.isAccepted(by: policy) { storeCookies(cookies, for: task) }
    }

    /// `name=value; name=value` (RFC 6265bis §5.8.3).
    private static func field(_ records: [CookieRecord]) -> String? {
        records.isEmpty ? nil : records.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}
