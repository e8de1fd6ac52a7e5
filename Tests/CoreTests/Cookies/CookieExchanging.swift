import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore

/// What tests do with cookies as sessions do: receive them in fields, and send them in a field.
protocol CookieExchanging {}

extension CookieExchanging {
    func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    func cookie(
        _ name: String, _ value: String = "v", domain: String = "h.example",
        with more: [HTTPCookiePropertyKey: Any] = [:]
    ) throws -> HTTPCookie {
        let properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: value, .domain: domain, .path: "/"]
        return try #require(HTTPCookie(properties: properties.merging(more) { $1 }))
    }

    /// What a request to `target` sends after a response from `origin` has set `cookies`.
    func exchange(_ origin: String, _ cookies: [String], _ target: String) throws -> String {
        let storage = HTTPCookieStorage()
        try receive(cookies, from: origin, in: storage)
        return try sent(to: target, from: storage)
    }

    func receive(
        _ cookies: [String], from origin: String, page: String? = nil, navigates: Bool = false,
        policy: HTTPCookie.AcceptPolicy = .always, in storage: HTTPCookieStorage
    ) throws {
        var fields = HTTPFields()
        for cookie in cookies { fields.append(.setCookie, cookie) }
        let context = CookieContext(
            url: try url(origin), mainDocumentURL: try page.map { try url($0) }, isTopLevelNavigation: navigates)
        storage.storeCookies(in: fields, of: context, for: nil, policy: policy)
    }

    func sent(
        to target: String, page: String? = nil, method: String = "GET", navigates: Bool = false,
        from storage: HTTPCookieStorage
    ) throws -> String {
        let context = CookieContext(
            url: try url(target), mainDocumentURL: try page.map { try url($0) }, method: method,
            isTopLevelNavigation: navigates)
        let field = Box<String?>(nil)
        storage.getCookieField(for: context, of: nil) { field.value = $0 }
        return field.value ?? ""
    }
}
