import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport
import Testing

@testable import LoadingKitHTTP

@Suite("What may be stored") struct StoragePermissionTests {
    struct Case: Sendable {
        let isStored: Bool
        let method: String
        let status: Int
        let request: [String]
        let response: [String]

        init(
            _ isStored: Bool, _ method: String = "GET", status: Int = 200, request: [String] = [],
            response: String...
        ) {
            (self.isStored, self.method, self.status) = (isStored, method, status)
            (self.request, self.response) = (request, response)
        }
    }

    @Test(arguments: [
        Case(true), Case(true, "HEAD"), Case(false, "POST", response: "Cache-Control: max-age=60"),
        Case(false, "OPTIONS", response: "Cache-Control: max-age=60"), Case(false, "get"),
        Case(false, response: "Cache-Control: no-store, max-age=60"),
        Case(false, request: ["Cache-Control: no-store"], response: "Cache-Control: max-age=60"),
        Case(true, request: ["Authorization: x"], response: "Cache-Control: max-age=60"),
        Case(true, response: "Cache-Control: private"), Case(true, response: "Cache-Control: no-cache"),
        Case(true, status: 404), Case(true, status: 301), Case(false, status: 302), Case(false, status: 500),
        Case(true, status: 302, response: "Cache-Control: max-age=60"), Case(true, status: 500, response: "Expires: x"),
        Case(true, status: 599, response: "Cache-Control: public"), Case(false, status: 599),
        Case(false, status: 599, response: "Cache-Control: max-age=60, must-understand"),
        Case(true, status: 200, response: "Cache-Control: max-age=60, no-store, must-understand"),
        Case(false, status: 304, response: "Cache-Control: max-age=60"),
        Case(false, status: 100, response: "Cache-Control: max-age=60"),
        Case(false, status: 416, response: "Cache-Control: max-age=60"), Case(true, status: 206),
        Case(true, response: "Vary: a"), Case(false, response: "Vary: *"),
        Case(false, response: "Vary: a", "Vary: b, *"),
    ])
    func responses(_ test: Case) {
        let fields = HTTPFields.lines(test.response)
        let refusal = StoragePermission.refusal(
            method: test.method, requestControl: CacheControl(ofRequest: .lines(test.request)), status: test.status,
            fields: fields, control: CacheControl(fields))
        #expect((refusal == nil) == test.isStored, "\(test)")
    }

    /// Needs explicit freshness, and a Content-Location that is the target (RFC 9110 §9.3.3).
    @Test(
        arguments: [
            (true, 200, ["Content-Location: /a", "Cache-Control: max-age=60"]),
            (true, 200, ["Content-Location: http://H/a", "Expires: 0"]),
            (false, 200, ["Content-Location: /a"]), (false, 200, ["Cache-Control: max-age=60"]),
            (false, 200, ["Content-Location: /b", "Cache-Control: max-age=60"]),
            (false, 200, ["Content-Location: http://other/a", "Cache-Control: max-age=60"]),
            (false, 200, ["Content-Location: /a", "Content-Location: /b", "Cache-Control: max-age=60"]),
            (false, 200, ["Content-Location: /a", "Content-Location: http://h:port/", "Cache-Control: max-age=60"]),
            (false, 201, ["Content-Location: /a", "Cache-Control: max-age=60"]),
            (false, 404, ["Content-Location: /a", "Cache-Control: max-age=60"]),
        ] as [(Bool, Int, [String])])
    func responsesToPOST(_ answers: Bool, _ status: Int, _ lines: [String]) throws {
        let fields = HTTPFields.lines(lines)
        let url = try #require(URL(string: "http://h/a"))
        let mayAnswer = StoragePermission.mayAnswerGET(
            url: url, status: status, fields: fields, control: CacheControl(fields))
        #expect(mayAnswer == answers)
    }

    @Test("leaves out what concerns the connection")
    func connectionFields() {
        let fields = HTTPFields.lines(
            "A: 1", "Connection: close, B", "B: 2", "Keep-Alive: 5", "C: 3", "Transfer-Encoding: chunked",
            "Proxy-Authenticate: Basic")
        #expect(StoragePermission.storableFields(fields).asLines == ["A: 1", "C: 3"])
    }
}

@Suite("Vary") struct VaryKeyTests {
    struct Case: Sendable {
        let matches: Bool
        let vary: String
        let stored: [String]
        let later: [String]

        init(_ matches: Bool, _ vary: String, _ stored: [String], _ later: [String]) {
            (self.matches, self.vary, self.stored, self.later) = (matches, vary, stored, later)
        }
    }

    @Test(arguments: [
        Case(true, "Foo", ["Foo: 1"], ["foo: 1", "Bar: 2"]), Case(false, "Foo", ["Foo: 1"], ["Foo: 2"]),
        Case(false, "Foo", [], ["Foo: 1"]), Case(false, "Foo", ["Foo: 1"], []), Case(true, "Foo", [], []),
        Case(false, "Foo", ["Foo: a"], ["Foo: A"]), Case(false, "Foo", ["Foo: 1, 2"], ["Foo: 2, 1"]),
        Case(true, "Foo", ["Foo: 1, 2"], ["Foo: 1", "Foo: 2"]), Case(true, "Foo", ["Foo: 1,2"], ["Foo: 1 ,  2"]),
        Case(false, "Foo", ["Foo: \"1,2\""], ["Foo: \"1, 2\""]),
        Case(true, "foo, BAR", ["Foo: 1", "Bar: 2"], ["Bar: 2", "Foo: 1"]),
        Case(false, "foo, BAR", ["Foo: 1", "Bar: 2"], ["Foo: 1"]),
        Case(true, "Accept-Language", ["Accept-Language: en, de"], ["Accept-Language: De,eN"]),
        Case(false, "Accept-Language", ["Accept-Language: en, de"], ["Accept-Language: en, de;q=0.5"]),
    ])
    func matching(_ test: Case) throws {
        #expect(try Self.matches(test.vary, test.stored, test.later) == test.matches, "\(test)")
    }

    private static func matches(_ vary: String, _ first: [String], _ later: [String]) throws -> Bool {
        let hash = try #require(KeyedHash.random())
        let kept = try #require(VaryKey.of(user(first), for: .lines("Vary: \(vary)"), hash))
        return VaryKey.matches(kept, user(later), hash)
    }

    private static func user(_ lines: [String]) -> CacheUser {
        let fields = HTTPFields.lines(lines)
        return CacheUser(
            fields, CacheCredentials(authorization: fields[.authorization].map { .field($0) } ?? .none))
    }

    /// To a server the same letter in another form of Unicode is another text.
    @Test func formsOfUnicode() {
        let credentials = ["\u{E9}", "e\u{301}"].map { text in
            [
                CacheCredentials(cookie: text), CacheCredentials(authorization: .field(text)),
                CacheCredentials(authorization: .credential(scheme: "Basic", user: text, password: "p")),
            ]
        }
        for (one, other) in zip(credentials[0], credentials[1]) { #expect(one != other && one == one) }
    }

    /// A value that may be secret is stored as a keyed hash, and not at all without a key.
    @Test func secrets() throws {
        let names = ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "Accept-Language", "User-Agent"]
        let request = Self.user(names.map { "\($0): hidden" })
        let response = HTTPFields.lines("Vary: \(names.joined(separator: ", ")), X-None")
        let (key, other) = (try #require(KeyedHash.random()), try #require(KeyedHash.random()))
        let kept = try #require(VaryKey.of(request, for: response, key))
        #expect(kept.filter { $0.value == "hidden" }.map(\.name) == ["accept-language", "user-agent"])
        #expect(kept.filter { $0.value == nil }.map(\.name) == ["x-none"])
        #expect(Set(kept.compactMap(\.value)).count == 5)
        #expect(VaryKey.matches(kept, request, key) && !VaryKey.matches(kept, request, other))
        #expect(VaryKey.of(request, for: response, nil) == nil && !VaryKey.matches(kept, request, nil))
        let harmless = HTTPFields.lines("Vary: Accept-Language")
        #expect(VaryKey.of(request, for: harmless, nil)?.map(\.value) == ["hidden"])
    }

    /// A server may list as many names as fit in a head.
    @Test func longLists() throws {
        let names = (0..<1000).map { "X-\($0)" }
        var fields = HTTPFields.lines(names.map { "\($0): 1" } + ["Age: 1", "ETag: \"a\"", "Other: 2"])
        fields.append(.connection, "close, age,\t" + names.joined(separator: ", "))
        #expect(StoragePermission.storableFields(fields).asLines == ["ETag: \"a\"", "Other: 2"])
        for (count, isAll) in [(100, false), (101, true)] {
            let list = names.prefix(count).joined(separator: ", ")
            #expect(VaryKey.matchesNothing(.lines("Vary: \(list)")) == isAll)
            let control = CacheControl(.lines("Cache-Control: no-cache=\"\(list)\""))
            #expect(control.has(.noCache) == isAll && control.noCacheFields.count == (isAll ? 0 : count))
        }
    }

    @Test(arguments: ["*", "Accept, *"]) func everythingElse(vary: String) throws {
        let hash = try #require(KeyedHash.random())
        #expect(VaryKey.of(Self.user(["Accept: a"]), for: .lines("Vary: \(vary)"), hash) == nil)
    }
}
