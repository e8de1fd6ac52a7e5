import Foundation
import LoadingKit
import LoadingKitTesting
import Testing

/// Each matcher, with requests that it holds for and others.
@Suite struct MatcherTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var matcher: RequestMatcher
        var request: ReceivedRequest
        /// The subjects of the differences; none where the request matches.
        var differs: [String] = []

        init(_ matcher: RequestMatcher, _ request: ReceivedRequest, differs: String...) {
            self.matcher = matcher
            self.request = request
            self.differs = differs
        }

        var testDescription: String { "\(matcher.description) / \(request.method) \(request.url)" }
    }

    static let urls: [Row] = [
        Row(.get("https://a.test/users"), received("https://a.test/users")),
        Row(.get("https://a.test/users"), received("https://a.test/users?page=2")),
        Row(.get("https://a.test/users"), received("https://a.test/users#top")),
        Row(.get("https://a.test/users"), received("https://a.test/users", method: "POST"), differs: "method"),
        Row(.get("https://a.test/users"), received("https://a.test/user"), differs: "URL"),
        Row(.get("https://a.test/users"), received("http://a.test/users"), differs: "URL"),
        Row(.post("https://a.test/users"), received("https://b.test/users"), differs: "method", "URL"),
        Row(.method("PUT", "PATCH"), received("https://a.test/", method: "PATCH")),
        Row(.method("put"), received("https://a.test/", method: "PUT"), differs: "method"),
        Row(.url("HTTPS://A.test:443"), received("https://a.test/")),
        Row(.url("https://a.test/users/{id}"), received("https://a.test/users/7")),
        Row(.url("https://a.test/users/{id}"), received("https://a.test/users/"), differs: "URL"),
        Row(.url("https://a.test/users/{id}"), received("https://a.test/users/7/posts"), differs: "URL"),
        Row(.url("https://a.test/*/posts"), received("https://a.test/ann/posts")),
        Row(.url("https://a.test/*/posts"), received("https://a.test/ann/b/posts"), differs: "URL"),
        Row(.url("https://a.test/**/posts"), received("https://a.test/ann/b/posts")),
        Row(.url("https://*.test/**"), received("https://a.test/x/y")),
        Row(.url("https://*.test/**"), received("https://a.example/x/y"), differs: "URL"),
        Row(.url("/users/{id}"), received("http://any.test:81/users/7")),
        Row(.url("a.test/users"), received("http://a.test/users")),
        Row(.url("a.test/users"), received("http://b.test/users"), differs: "URL"),
        Row(.url("/a.b"), received("http://any.test/aXb"), differs: "URL"),
        Row(.url("/s?q=*"), received("http://any.test/s?q=x")),
        Row(.url("/s?q=*"), received("http://any.test/s"), differs: "URL"),
        Row(.url(exactly: "http://a.test/{x}*?b=1&a=2"), received("http://a.test/%7Bx%7D*?b=1&a=2"), differs: "URL"),
        Row(.url(exactly: "http://a.test/x*?b=1"), received("http://a.test/x*?b=1")),
        Row(.url(exactly: "http://a.test/x*?b=1"), received("http://a.test/xy?b=1"), differs: "URL"),
        Row(.url(exactly: "http://a.test/x"), received("http://a.test/x?b=1"), differs: "URL"),
        Row(.host("*.example.com"), received("http://api.example.com:8080/x")),
        Row(.host("*.example.com"), received("http://example.com/x"), differs: "host"),
        Row(.host("[::1]"), received("http://[::1]:8080/x")),
        Row(.path("/x/**"), received("http://a.test/x/y/z?q=1")),
        Row(.path("/x/**"), received("http://a.test/y"), differs: "path"),
    ]

    static let queries: [Row] = [
        Row(.query(["a": "1", "b": "2"]), received("http://a.test/?b=2&a=1")),
        Row(.query(["a": "1", "b": "2"]), received("http://a.test/?a=1"), differs: "query item b"),
        Row(.query(["a": "1"]), received("http://a.test/?a=1&c=3"), differs: "query item c"),
        Row(.query(["a": "1"]), received("http://a.test/?a=2"), differs: "query item a"),
        Row(.query(["t": "x", "t": "y"]), received("http://a.test/?t=x&t=y")),
        Row(.query(["t": "x", "t": "y"]), received("http://a.test/?t=y&t=x"), differs: "query item t"),
        Row(.query(["q": "a b&c"]), received("http://a.test/?q=a+b%26c")),
        Row(.query([:]), received("http://a.test/")),
        Row(.query("a"), received("http://a.test/?x=1&a")),
        Row(.query("a"), received("http://a.test/?x=1"), differs: "query item a"),
        Row(.query("a", "1"), received("http://a.test/?x=1&a=1")),
        Row(.query("a", "1"), received("http://a.test/?a=2"), differs: "query item a"),
        Row(.query("%"), received("http://a.test/?%25=1")),
    ]

    static let contents: [Row] = [
        Row(.field("accept", "text/plain"), received("http://a.test/", fields: ["Accept": "text/plain"])),
        Row(.field("Accept", "text/plain"), received("http://a.test/"), differs: "field Accept"),
        Row(.field("Accept"), received("http://a.test/", fields: ["Accept": "x"])),
        Row(.field("Accept") { $0 == nil }, received("http://a.test/")),
        Row(.field("Accept") { $0 != nil }, received("http://a.test/"), differs: "field Accept"),
        Row(.noField("Cookie"), received("http://a.test/")),
        Row(.noField("Cookie"), received("http://a.test/", fields: ["Cookie": "a=b"]), differs: "field Cookie"),
        Row(.body(Data([1, 2])), ReceivedRequest(request("http://a.test/"), body: Data([1, 2]))),
        Row(.body(Data([1, 2])), ReceivedRequest(request("http://a.test/"), body: Data([1])), differs: "body"),
        Row(.body(text: "é"), received("http://a.test/", body: "é")),
        Row(.body(text: ""), received("http://a.test/")),
        Row(.body(text: "x"), received("http://a.test/"), differs: "body"),
        Row(
            .body(json: ["a": 1, "b": [true, nil]]),
            received("http://a.test/", body: " { \"b\":[true, null],\n\"a\":1.0}")),
        Row(.body(json: ["a": 1]), received("http://a.test/", body: "{\"a\":true}"), differs: "body at $.a"),
        Row(.body(json: ["a": 1]), received("http://a.test/", body: "{}"), differs: "body at $.a"),
        Row(
            .body(json: ["a": [1, 2]]), received("http://a.test/", body: "{\"a\":[1,3,4]}"),
            differs: "body at $.a[1]", "body at $.a[2]"),
        Row(.body(json: ["a": 1]), received("http://a.test/", body: "{"), differs: "body"),
        Row(.body(json: ["a": 1]), received("http://a.test/"), differs: "body"),
        Row(.form(["a": "1", "b": "x y"]), received("http://a.test/", body: "b=x+y&a=1")),
        Row(.form(["a": "1"]), received("http://a.test/", body: "a=2"), differs: "form field a"),
        Row(.formField("b"), received("http://a.test/", body: "b=x+y&a=1")),
        Row(.formField("b", "x"), received("http://a.test/", body: "b=y"), differs: "form field b"),
        Row(
            .form(["a": "1", "f": "data\r\n--"]),
            received(
                "http://a.test/", fields: ["Content-Type": "multipart/form-data; boundary=\"q\""],
                body:
                    "--q\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--q\r\nContent-Disposition: form-data; "
                    + "name=f; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\ndata\r\n--\r\n--q--\r\n")),
        Row(.body { $0.count > 2 }, received("http://a.test/", body: "abc")),
        Row(.body { $0.count > 2 }, received("http://a.test/", body: "ab"), differs: "body"),
        Row(.where("always") { _ in true }, received("http://a.test/")),
        Row(.where("never") { _ in false }, received("http://a.test/"), differs: "condition"),
        Row(.anything, received("http://a.test/")),
    ]

    @Test(arguments: urls + queries + contents)
    func row(_ row: Row) {
        #expect(row.matcher.mismatches(row.request).map(\.subject) == row.differs)
    }

    @Test func regularExpressionsHaveNamedGroups() async throws {
        let stubs = StubSet()
        stubs.add(try .url(regex: #"/items/(?<number>\d+)$"#)) { .text($0.parameters["number"] ?? "none") }
        let (data, _) = try await stubs.session().data(from: url("http://a.test/items/42"))
        #expect(String(decoding: data, as: UTF8.self) == "42")
        #expect(throws: (any Error).self) { try RequestMatcher.url(regex: "(") }
    }

    @Test func parametersAreDecoded() async throws {
        let stubs = StubSet()
        stubs.add(.get("https://{Host}.test/users/{id}/{rest}.json")) { request in
            .text(["Host", "id", "rest"].map { request.parameters[$0] ?? "-" }.joined(separator: "|"))
        }
        let (data, _) = try await stubs.session().data(from: url("https://a.test/users/J%C3%BCrg/x.y.json"))
        #expect(String(decoding: data, as: UTF8.self) == "a|Jürg|x.y")
    }

    /// A pattern of many wildcards takes no longer than its length times the text's.
    @Test func patternsDoNotExplode() {
        let pattern = "/" + String(repeating: "*a", count: 30) + "b"
        let text = "http://a.test/" + String(repeating: "a", count: 300)
        #expect(!RequestMatcher.url(pattern).mismatches(received(text)).isEmpty)
    }
}
