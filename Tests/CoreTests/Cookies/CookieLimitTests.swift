import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite("Cookie limits")
struct CookieLimitTests {
    private func cookie(
        _ name: String, _ value: String = "v", domain: String, isSecure: Bool = false, age: Int = 1000
    ) throws -> HTTPCookie {
        try #require(
            HTTPCookie(properties: [
                .name: name, .value: value, .domain: domain, .path: "/", .secure: isSecure,
                .expires: Date(timeIntervalSinceNow: Double(age)),
            ]))
    }

    @Test("4,096 bytes of name and value")
    func size() throws {
        let storage = HTTPCookieStorage()
        storage.setCookie(try cookie("ab", String(repeating: "é", count: 2047), domain: "h.com"))
        #expect(storage.cookies?.count == 1)
        storage.setCookie(try cookie("abc", String(repeating: "é", count: 2047), domain: "h.com"))
        #expect(storage.cookies?.count == 1)
        let url = try #require(URL(string: "http://h.com/"))
        for (count, isStored) in [(4095, true), (4096, false)] {
            let field = ["Set-Cookie": "x=" + String(repeating: "v", count: count)]
            storage.removeCookies(since: .distantPast)
            storage.setCookies(
                HTTPCookie.cookies(withResponseHeaderFields: field, for: url), for: url, mainDocumentURL: nil)
            #expect(storage.cookies?.isEmpty != isStored)
        }
    }

    @Test("1,024 bytes of path, also where it is that of the URL")
    func path() throws {
        let longest = "/" + String(repeating: "a", count: 1023)
        for (path, line, isStored) in [
            (longest, "a=b", true), (longest + "a", "a=b", false), (longest + "a", "a=b; Path=/", true),
        ] {
            let url = try #require(URL(string: "http://h.com\(path)/x"))
            var fields = HTTPFields()
            fields.append(.setCookie, line)
            let storage = HTTPCookieStorage()
            var refusals: [CookieRefusal?] = []
            storage.storeCookies(in: fields, of: CookieContext(url: url), for: nil, policy: .always) { _, refusal in
                refusals.append(refusal)
            }
            #expect(storage.cookies?.isEmpty != isStored)
            #expect(refusals == [isStored ? nil : CookieRefusal.invalid])
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": line], for: url)
            #expect(cookies.isEmpty != isStored)
        }
        // Cookies of a program, by itself and in the name of a server.
        let url = try #require(URL(string: "http://h.com/"))
        for (path, isStored) in [(longest, true), (longest + "a", false)] {
            let cookie = try #require(
                HTTPCookie(properties: [.name: "a", .value: "b", .domain: "h.com", .path: path]))
            let (own, server) = (HTTPCookieStorage(), HTTPCookieStorage())
            own.setCookie(cookie)
            server.setCookies([cookie], for: url, mainDocumentURL: nil)
            #expect(own.cookies?.isEmpty != isStored && server.cookies?.isEmpty != isStored)
        }
    }

    @Test("180 of a domain with its subdomains, 3,000 in all; the oldest goes")
    func counts() throws {
        let storage = HTTPCookieStorage()
        for index in 0..<180 {
            storage.setCookie(try cookie("c\(index)", domain: index % 2 == 0 ? "h.com" : ".a.h.com"))
        }
        #expect(storage.cookies?.count == 180)
        storage.setCookie(try cookie("new", domain: "b.h.com"))
        #expect(storage.cookies?.count == 180 && storage.cookies?.first?.name == "c1")
        for index in 0..<3000 { storage.setCookie(try cookie("d", domain: "h\(index).com")) }
        #expect(storage.cookies?.count == 3000 && storage.cookies?.first?.domain == "h0.com")
        storage.setCookie(try cookie("d", domain: "last.com"))
        #expect(storage.cookies?.count == 3000 && storage.cookies?.first?.domain == "h1.com")
    }

    @Test("what was used last stays; what has ended goes first, then what is not Secure")
    func order() throws {
        var limits = CookieLimits()
        limits.siteCount = 3
        let now = Box(Date())
        let storage = HTTPCookieStorage(persistence: nil, limits: limits, now: { now.value })
        let url = try #require(URL(string: "https://a.h.com/"))
        storage.setCookie(try cookie("a", domain: "a.h.com"))
        storage.setCookie(try cookie("b", domain: "b.h.com"))
        storage.setCookie(try cookie("s", domain: "c.h.com", isSecure: true))
        #expect(storage.cookies(for: url)?.map(\.name) == ["a"])
        storage.setCookie(try cookie("c", domain: "c.h.com"))
        #expect(storage.cookies?.map(\.name) == ["a", "s", "c"])
        storage.setCookie(try cookie("d", domain: "c.h.com", age: 10_000))
        #expect(storage.cookies?.map(\.name) == ["s", "c", "d"])
        now.value += 2000
        storage.setCookie(try cookie("e", domain: "c.h.com", age: 10_000))
        #expect(storage.cookies?.map(\.name) == ["d", "e"])
    }

    @Test("the jar agrees with a plain list, whatever is done to it", arguments: 0..<4 as Range<UInt64>)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var limits = CookieLimits()
        limits.totalCount = 20
        limits.siteCount = 6
        var jar = CookieJar(limits: limits)
        var model: [CookieRecord.Identity: String] = [:]
        let now = Date()
        for step in 0..<3000 {
            let name = "n\(Int.random(in: 0..<4, using: &random))"
            let host = "h\(Int.random(in: 0..<6, using: &random)).d\(Int.random(in: 0..<5, using: &random)).com"
            let record = try cookie(name, "\(step)", domain: host).record
            let changes =
                Int.random(in: 0..<4, using: &random) == 0 ? jar.remove(record.identity) : jar.store(record, at: now)
            for change in changes {
                switch change {
                case .stored(let record, let old):
                    #expect(model.updateValue(record.value, forKey: record.identity) == old?.value)
                case .removed(let record):
                    #expect(model.removeValue(forKey: record.identity) == record.value)
                case .removedByProgram, .removedByServer, .removedAll:
                    Issue.record("a jar makes changes in memory only")
                }
            }
            let url = try #require(URL(string: "http://\(host)/"))
            let query = try #require(CookieQuery(CookieContext(url: url)))
            let found = jar.records(for: query, at: now)
            #expect(Set(found.map(\.identity)) == Set(model.keys.filter { $0.domain == host }))
            #expect(jar.count == model.count && model.count <= 20)
        }
        let all = jar.records(at: now)
        #expect(Dictionary(uniqueKeysWithValues: all.map { ($0.identity, $0.value) }) == model)
        #expect(Dictionary(grouping: all) { $0.identity.domain.suffix(6) }.values.allSatisfy { $0.count <= 6 })
    }

    @Test("a look-up among 100,000 cookies costs no more than twice one among 1,000")
    func cost() throws {
        let few = try storage(1_000)
        let many = try storage(100_000)
        let url = try #require(URL(string: "http://www.h7.com/p"))
        // In turn, and the best of each, so that what else the machine does counts for neither: as often as that needs.
        var best = (few: Double.infinity, many: Double.infinity)
        for _ in 0..<200 where best.few == .infinity || best.many > best.few * 2 {
            best.few = min(best.few, seconds(url, in: few))
            best.many = min(best.many, seconds(url, in: many))
        }
        print("cookie look-up: \(best.few * 1e6) µs among 1,000, \(best.many * 1e6) µs among 100,000")
        #expect(best.many <= best.few * 2)
    }

    private func storage(_ count: Int) throws -> HTTPCookieStorage {
        var limits = CookieLimits()
        limits.totalCount = count
        let storage = HTTPCookieStorage(persistence: nil, limits: limits)
        let first = try cookie("c", domain: ".h.com").record
        for index in 0..<count {
            var record = first
            record.identity.name = "c\(index % 10)"
            record.identity.domain = "h\(index / 10).com"
            storage.setCookie(HTTPCookie(record))
        }
        #expect(storage.cookies?.count == count)
        return storage
    }

    private func seconds(_ url: URL, in storage: HTTPCookieStorage) -> Double {
        var found = 0
        let time = ThreadTime.of {
            for _ in 0..<50 { found += storage.cookies(for: url)?.count ?? 0 }
        }
        #expect(found == 500)
        return time / 50 * 1e-6
    }
}
