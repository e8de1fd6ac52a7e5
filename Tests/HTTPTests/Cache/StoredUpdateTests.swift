import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

@Suite("Updates of stored responses") struct StoredUpdateTests {
    @Test("replace fields by name, and leave the content's alone")
    func merging() {
        let merged = StoredUpdate.merged(
            .lines("A: 1", "B: 2", "b: 3", "Content-Length: 5", "Content-Encoding: gzip", "Age: 7", "C: 4"),
            .lines(
                "B: 5", "Content-Length: 9", "Content-Encoding: br", "D: 6", "d: 7", "Connection: E", "E: 8",
                "Content-Type: x", "Content-Range: bytes 0-1/2"))
        #expect(
            merged.asLines == [
                "A: 1", "Content-Length: 5", "Content-Encoding: gzip", "C: 4", "B: 5", "D: 6", "d: 7",
                "Content-Type: x",
            ])
    }

    @Test(
        "need the same strong validator",
        arguments: [
            (true, "\"a\"", "\"a\""), (false, "\"a\"", "\"b\""), (true, "\"a\"", "W/\"b\""), (true, "\"a\"", nil),
            (true, nil, "\"a\""), (false, "W/\"a\"", "\"a\""),
        ] as [(Bool, String?, String?)])
    func application(_ applies: Bool, _ stored: String?, _ new: String?) throws {
        let response = try HTTPTests.stored(200, stored.map { ["ETag: \($0)"] } ?? [])
        #expect(StoredUpdate.applies(.lines(new.map { ["ETag: \($0)"] } ?? []), to: response) == applies)
    }

    @Test(
        "by HEAD",
        arguments: [
            (true, [String]()), (true, ["ETag: \"a\"", "Content-Length: 5", "X: y"]), (false, ["ETag: \"b\""]),
            (false, ["Content-Length: 6"]), (true, ["Last-Modified: x"]),
            (true, ["Vary: B , a"]), (true, ["Vary: A"]), (false, ["Vary: A, c"]), (false, ["Vary: *"]),
        ])
    func head(_ agrees: Bool, _ lines: [String]) throws {
        let response = try stored(200, ["ETag: \"a\"", "Content-Length: 5", "Vary: A", "Vary: b"])
        #expect(StoredUpdate.headAgrees(.lines(lines), with: response) == agrees)
    }

    @Test(
        "by HEAD, but not of redirects and errors", arguments: [(true, 200), (true, 206), (false, 301), (false, 404)])
    func headAfterAnotherStatus(_ agrees: Bool, _ status: Int) throws {
        let response = try stored(status, ["ETag: \"a\""])
        #expect(StoredUpdate.headAgrees(.lines("ETag: \"a\""), with: response) == agrees)
    }
}

@Suite("Invalidation") struct CacheInvalidationTests {
    @Test(
        arguments: [
            ("GET", 200, [], []), ("HEAD", 200, [], []), ("POST", 200, [], ["http://h/a/b"]),
            ("PUT", 204, [], ["http://h/a/b"]), ("DELETE", 302, [], ["http://h/a/b"]),
            ("M-SEARCH", 200, [], ["http://h/a/b"]),
            ("POST", 404, [], []), ("POST", 500, [], []),
            ("POST", 201, ["Location: c", "Content-Location: /d"], ["http://h/a/b", "http://h/a/c", "http://h/d"]),
            ("POST", 201, ["Content-Location: /a%20b c"], ["http://h/a/b", "http://h/a%20b%20c"]),
            ("POST", 201, ["Location: http://other/c", "Content-Location: https://h/d"], ["http://h/a/b"]),
            (
                "POST", 201, ["Location: file:///etc", "Content-Location: http://h:80/e"],
                ["http://h/a/b", "http://h:80/e"]
            ),
        ] as [(String, Int, [String], [String])])
    func urls(_ method: String, _ status: Int, _ lines: [String], _ expected: [String]) throws {
        let url = try #require(URL(string: "http://h/a/b"))
        let urls = CacheInvalidation.urls(method: method, url: url, status: status, fields: .lines(lines))
        #expect(urls.map(\.absoluteString) == expected)
    }
}
