import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite("HTTPCookieStorage")
struct HTTPCookieStorageTests: CookieExchanging {
    @Test("accept policies")
    func policies() throws {
        let storage = HTTPCookieStorage()
        #expect(storage.cookieAcceptPolicy == .always)
        try receive(
            ["a=1"], from: "http://a.com/", page: "http://b.com/", policy: .onlyFromMainDocumentDomain, in: storage)
        try receive(["a=1"], from: "http://a.com/", policy: .never, in: storage)
        storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
        try receive(["b=1; SameSite=None"], from: "http://a.com/", page: "http://b.com/", in: storage)
        #expect(storage.cookies == [])
        try receive(["c=1"], from: "http://x.a.com/", page: "http://www.a.com/", in: storage)
        try receive(["d=1"], from: "http://a.com/", in: storage)
        #expect(storage.cookies?.map(\.name) == ["c", "d"])
        storage.cookieAcceptPolicy = .never
        try receive(["e=1"], from: "http://a.com/", in: storage)
        storage.setCookie(try cookie("f"))
        #expect(storage.cookies?.count == 2)
        #expect(try sent(to: "http://a.com/", from: storage) == "d=1")
    }

    @Test("sends longer paths first, then older ones; an update keeps its place")
    func order() throws {
        let storage = HTTPCookieStorage()
        try receive(
            ["a=1; path=/", "b=1; path=/p", "c=1; path=/p", "d=1; path=/p/q"], from: "http://h.com/", in: storage)
        try receive(["a=2; path=/", "b=2; path=/p"], from: "http://h.com/", in: storage)
        #expect(try sent(to: "http://h.com/p/q", from: storage) == "d=1; b=2; c=1; a=2")
        let found = storage.cookies(for: try url("http://h.com/p"))
        #expect(found?.map(\.name) == ["b", "c", "a"])
        #expect(storage.cookies(for: try url("data:,x")) == nil)
        #expect(storage.cookies(for: try url("http://i.com/")) == [])
    }

    @Test("cookies end when they say, and after 400 days at the latest")
    func ends() throws {
        let now = Box(Date(timeIntervalSince1970: 1_000_000_000))
        let storage = HTTPCookieStorage(persistence: nil, now: { now.value })
        let lines = ["a=1; max-age=10", "b=1; expires=Fri, 07 Aug 2099 08:04:19 GMT", "c=1", "d=1; max-age=0"]
        try receive(lines, from: "http://h.com/", in: storage)
        #expect(try sent(to: "http://h.com/", from: storage) == "a=1; b=1; c=1")
        now.value += 10
        #expect(try sent(to: "http://h.com/", from: storage) == "b=1; c=1")
        #expect(storage.cookies?.count == 2)
        try receive(["c=1; max-age=-1"], from: "http://h.com/", in: storage)
        now.value += 400 * 86_400 - 11
        #expect(try sent(to: "http://h.com/", from: storage) == "b=1")
        now.value += 1
        #expect(storage.cookies == [])
        // A program may keep its own for as long as it likes.
        let far = try cookie("e", with: [.expires: now.value + 4_000 * 86_400])
        storage.setCookie(far)
        #expect(storage.cookies == [far])
    }

    @Test("programs set, replace and remove cookies")
    func programs() throws {
        let storage = HTTPCookieStorage()
        storage.setCookie(try cookie("a", "1"))
        storage.setCookie(try cookie("a", "2"))
        storage.setCookie(try cookie("a", "3", domain: ".h.example"))
        #expect(storage.cookies?.map(\.value) == ["2", "3"])
        storage.deleteCookie(try cookie("a", "any"))
        #expect(storage.cookies?.map(\.value) == ["3"])
        for domain in [".co.uk", ".github.io"] { storage.setCookie(try cookie("b", domain: domain)) }
        storage.setCookie(try cookie("c", domain: ".localhost"))
        #expect(storage.cookies?.map(\.domain) == [".h.example", "localhost"])
        storage.setCookies([try cookie("d")], for: nil, mainDocumentURL: nil)
        storage.setCookies([try cookie("d")], for: try url("http://other.example/"), mainDocumentURL: nil)
        #expect(storage.cookies?.count == 2)
        storage.setCookies([try cookie("d")], for: try url("http://h.example/"), mainDocumentURL: nil)
        #expect(storage.cookies?.count == 3 && storage.description.contains("3"))
        storage.setCookie(try cookie("i", domain: "bücher.example"))
        #expect(try sent(to: "http://bücher.example/", from: storage) == "i=v")
        #expect(try sent(to: "http://b%C3%BCcher.example/", from: storage) == "i=v")
        storage.setCookie(try cookie("p", with: [.port: "8080"]))
        #expect(try sent(to: "http://h.example:8080/", from: storage).contains("p=v"))
        #expect(try !sent(to: "http://h.example/", from: storage).contains("p=v"))
    }

    @Test("removes what was stored since a date, updates included, and what was stored again unchanged")
    func removal() throws {
        let now = Box(Date(timeIntervalSince1970: 1_000_000_000))
        let storage = HTTPCookieStorage(persistence: nil, now: { now.value })
        try receive(["a=1", "b=1", "d=1"], from: "http://h.com/", in: storage)
        let start = now.value + 5
        now.value += 10
        try receive(["b=2", "c=2", "d=1"], from: "http://h.com/", in: storage)
        storage.removeCookies(since: start)
        #expect(try sent(to: "http://h.com/", from: storage) == "a=1")
        storage.removeCookies(since: .distantPast)
        #expect(storage.cookies == [])
    }

    @Test("a value in another form of Unicode is a new value, and such a name another cookie's")
    func formsOfUnicode() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let storage = HTTPCookieStorage()
        for value in [composed, decomposed] { try receive(["a=\(value)"], from: "http://h.com/", in: storage) }
        var field = try sent(to: "http://h.com/", from: storage)
        #expect(Array(field.utf8) == Array("a=\(decomposed)".utf8))
        for name in [composed, decomposed] { try receive(["\(name)=1"], from: "http://h.com/", in: storage) }
        #expect(storage.cookies?.count == 3)
        try receive(["\(composed)=2", "\(decomposed)=; max-age=0"], from: "http://h.com/", in: storage)
        field = try sent(to: "http://h.com/", from: storage)
        #expect(Array(field.utf8) == Array("a=\(decomposed); \(composed)=2".utf8))
        storage.setCookie(try cookie(composed))
        storage.deleteCookie(try cookie(decomposed))
        #expect(try sent(to: "http://h.example/", from: storage) == "\(composed)=v")
    }

    @Test("sorts")
    func sorting() throws {
        let storage = HTTPCookieStorage()
        for name in ["b", "c", "a"] { storage.setCookie(try cookie(name)) }
        let byName = NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: true)
        #expect(storage.sortedCookies(using: [byName]).map(\.name) == ["a", "b", "c"])
        #expect(storage.sortedCookies(using: []).map(\.name) == ["b", "c", "a"])
    }

    @Test("tells of changes, and of nothing else")
    func notifications() throws {
        let storage = HTTPCookieStorage()
        let seen = Box<[String]>([])
        let names: [NSNotification.Name] = [
            .NSHTTPCookieManagerCookiesChanged, .NSHTTPCookieManagerAcceptPolicyChanged,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: storage, queue: nil) { _ in
                // The storage can be asked: no lock is held.
                seen.value.append("\(name == names[0] ? "cookies" : "policy") \(storage.cookies?.count ?? -1)")
            }
        }
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        let first = try cookie("a")
        storage.setCookie(first)
        storage.setCookie(first)
        storage.deleteCookie(try cookie("b"))
        storage.setCookies([try cookie("b"), try cookie("c")], for: try url("http://h.example/"), mainDocumentURL: nil)
        storage.deleteCookie(first)
        storage.removeCookies(since: .distantFuture)
        storage.cookieAcceptPolicy = .always
        storage.cookieAcceptPolicy = .never
        #expect(seen.value == ["cookies 1", "cookies 3", "cookies 2", "policy 2"])
    }

    @Test("tasks have the cookies of their current request")
    func tasks() throws {
        let session = URLSession(configuration: URLSessionConfiguration(settings: SessionSettings()))
        defer { session.invalidateAndCancel() }
        let storage = HTTPCookieStorage()
        let task = session.dataTask(with: try url("http://h.example/p"))
        storage.storeCookies([try cookie("a"), try cookie("b", domain: "other.example")], for: task)
        let found = Box<[String]?>(nil)
        storage.getCookiesFor(task) { found.value = $0?.map(\.name) }
        #expect(found.value == ["a"])
        storage.getCookiesFor(URLSessionTask()) { found.value = $0?.map(\.name) }
        #expect(found.value == nil)
    }

    @Test("asks a program's own storage by task")
    func subclasses() throws {
        final class Own: HTTPCookieStorage, @unchecked Sendable {  // a Box guards itself
            let stored = Box<[String]>([])
            override func storeCookies(_ cookies: [HTTPCookie], for task: URLSessionTask) {
                stored.value += cookies.map(\.name)
            }
            override func getCookiesFor(
                _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
            ) {
                completionHandler(
                    HTTPCookie(properties: [.name: "own", .value: "1", .domain: "x", .path: "/"]).map { [$0] })
            }
        }
        let session = URLSession(configuration: URLSessionConfiguration(settings: SessionSettings()))
        defer { session.invalidateAndCancel() }
        let (storage, address) = (Own(persistence: nil), try url("http://h.example/"))
        let task = session.dataTask(with: address)
        var fields = HTTPFields()
        fields.append(.setCookie, "a=1")
        storage.storeCookies(in: fields, of: CookieContext(url: address), for: task, policy: .always)
        storage.storeCookies(in: fields, of: CookieContext(url: address), for: task, policy: .never)
        let field = Box<String?>(nil)
        storage.getCookieField(for: CookieContext(url: address), of: task) { field.value = $0 }
        #expect(storage.stored.value == ["a"] && field.value == "own=1" && storage.cookies == [])
    }

    @Test("is used from many threads at once")
    func threads() throws {
        let storage = HTTPCookieStorage()
        let address = try url("http://h.example/")
        let cookies = try (0..<50).map { try cookie("c\($0)") }
        DispatchQueue.concurrentPerform(iterations: 1000) { index in
            storage.setCookie(cookies[(index * 7) % cookies.count])
            _ = storage.cookies(for: address)
            if index % 5 == 0 { storage.deleteCookie(cookies[index % cookies.count]) }
        }
        storage.removeCookies(since: .distantPast)
        #expect(storage.cookies == [])
    }
}
