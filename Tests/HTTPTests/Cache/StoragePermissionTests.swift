import Foundation
import LoadingKitPrimitives
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
        let mayStore = StoragePermission.mayStore(
            method: test.method, requestControl: CacheControl(ofRequest: .lines(test.request)), status: test.status,
            fields: fields, control: CacheControl(fields))
        #expect(mayStore == test.isStored, "\(test)")
    }

    @Test("leaves out what concerns the connection")
    func connectionFields() {
        let fields = HTTPFields.lines(
            "A: 1", "Connection: close, B", "B: 2", "Keep-Alive: 5", "C: 3", "Transfer-Encoding: chunked",
            "Proxy-Authenticate: Basic")
        #expect(StoragePermission.storableFields(fields).asLines == ["A: 1", "C: 3"])
    }
}

@Suite("Vary") struct SelectingFieldsTests {
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

    private static func matches(
        _ vary: String, _ first: [String], _ later: [String], control: String = ""
    ) throws -> Bool {
        let response = HTTPFields.lines("Vary: \(vary)", "Cache-Control: \(control)")
        let kept = SelectingFields.of(.lines(first), credentials: .lines(first), for: response)
        let stored = try stored(200, response.asLines, selecting: kept)
        return SelectingFields.match(stored, credentials: .lines(later), sent: { .lines(later) })
    }

    @Test("is as if said of credentials", arguments: ["Authorization", "Cookie"])
    func credentials(_ name: String) throws {
        let (one, two) = (["\(name): one"], ["\(name): two"])
        #expect(try Self.matches("", one, one))
        #expect(try !Self.matches("", one, two) && !Self.matches("", [], one) && !Self.matches("", one, []))
        for (first, later) in [(one, two), ([], one), (one, [])] {
            #expect(try Self.matches("", first, later, control: "public"))
        }
    }
}
