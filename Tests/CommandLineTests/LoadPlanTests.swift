import Foundation
import LoadingKit
import Testing

@testable import loadkit

/// Arguments to requests.
@Suite struct LoadPlanTests {
    private static func plan(_ arguments: [String]) throws -> LoadPlan {
        let files = ["form": Data("a=1\r\nb=2\n\0".utf8), "-": Data("from input\n".utf8), "ca": Data(pem.utf8)]
        return try LoadPlan(LoadOptions.parse(ShortOptions.expanded(arguments))) { path in
            guard let content = files[path] else { throw CocoaError(.fileReadNoSuchFile) }
            return content
        }
    }

    private static let pem = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"

    /// What goes into the request.
    struct RequestCase: Sendable {
        var arguments: [String]
        var method = "GET"
        var body: String?
        var fields: [String: String?] = [:]
    }

    static let requests: [RequestCase] = [
        RequestCase(
            arguments: [],
            fields: [
                "User-Agent": RequestTemplate.userAgent, "Accept": "*/*", "Content-Type": nil, "Authorization": nil,
            ]),
        RequestCase(arguments: ["-I"], method: "HEAD"),
        RequestCase(arguments: ["-X", "PURGE"], method: "PURGE"),
        RequestCase(arguments: ["-XDELETE"], method: "DELETE"),
        RequestCase(
            arguments: ["-d", "a=1"], method: "POST", body: "a=1",
            fields: ["Content-Type": "application/x-www-form-urlencoded"]),
        RequestCase(arguments: ["-d", "a=1", "-d", "b=2", "-dc=3"], method: "POST", body: "a=1&b=2&c=3"),
        RequestCase(arguments: ["-d", "@form"], method: "POST", body: "a=1b=2"),
        RequestCase(arguments: ["-d", "@-"], method: "POST", body: "from input"),
        RequestCase(arguments: ["-d", "-5"], method: "POST", body: "-5"),
        RequestCase(arguments: ["-d", ""], method: "POST", body: ""),
        RequestCase(arguments: ["-d", "{}", "-X", "PUT"], method: "PUT", body: "{}"),
        RequestCase(
            arguments: ["-d", "{}", "-H", "content-type: application/json"], method: "POST", body: "{}",
            fields: ["Content-Type": "application/json"]),
        RequestCase(arguments: ["-H", "X-One:  a b "], fields: ["X-One": "a b"]),
        RequestCase(arguments: ["-HX-One: a", "-H", "x-one: b"], fields: ["X-One": "a,b"]),
        RequestCase(arguments: ["-H", "Accept:"], fields: ["Accept": nil]),
        RequestCase(arguments: ["-H", "X-Empty;"], fields: ["X-Empty": ""]),
        RequestCase(arguments: ["-A", "me/1"], fields: ["User-Agent": "me/1"]),
        RequestCase(
            arguments: ["-u", "Aladdin:open sesame"], fields: ["Authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]),
    ]

    @Test(arguments: requests) func request(_ expected: RequestCase) throws {
        let plan = try Self.plan(expected.arguments + ["http://localhost/"])
        let request = try #require(plan.loads.first).request
        #expect(request.httpMethod == expected.method)
        #expect(request.httpBody.map { String(decoding: $0, as: UTF8.self) } == expected.body)
        let found = expected.fields.keys.map { request.value(forHTTPHeaderField: $0) }
        #expect(found == expected.fields.keys.map { expected.fields[$0] ?? nil })
    }

    @Test func credentialsOfTheURL() throws {
        let request = try #require(Self.plan(["http://Aladdin:open%20sesame@localhost/"]).loads.first).request
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    static let shortOptions: [([String], [String])] = [
        (["-sS", "-vXPOST", "a"], ["-s", "-S", "-v", "-X", "POST", "a"]),
        (["-da=1", "-sd", "-sS", "-d", "-d"], ["-d", "a=1", "-s", "-d", "-sS", "-d", "-d"]),
        (["-d", "-o", "-ox"], ["-d", "-o", "-o", "x"]),
        (["--output", "-sS", "-sS"], ["--output", "-sS", "-s", "-S"]),
        (["--output=x", "-sS", "-", "-o"], ["--output=x", "-s", "-S", "-", "-o"]),
        (["-sS", "--", "-sS"], ["-s", "-S", "--", "-sS"]),
        (["-H-d", "-sS"], ["-H", "-d", "-s", "-S"]),
        ([], []),
    ]

    @Test(arguments: shortOptions) func shortOption(_ arguments: [String], _ expected: [String]) {
        #expect(ShortOptions.expanded(arguments) == expected)
    }

    /// A URL as it is typed, and as it is loaded; nil where it is none.
    static let urls: [(String, String?)] = [
        ("http://localhost/", "http://localhost/"),
        ("localhost", "http://localhost"),
        ("localhost:8080", "http://localhost:8080"),
        ("localhost:8080/a?b#c", "http://localhost:8080/a?b#c"),
        ("127.0.0.1:80/x", "http://127.0.0.1:80/x"),
        ("[::1]:80/", "http://[::1]:80/"),
        ("example.com/a:b", "http://example.com/a:b"),
        ("data:,x", "data:,x"),
        ("file:///tmp/x", "file:///tmp/x"),
        ("HTTP://localhost/", "HTTP://localhost/"),
        ("greeting:Ada", "greeting:Ada"),
        ("localhost/a%20b|c?q=100%&x=a%20b", "http://localhost/a%20b%7Cc?q=100%25&x=a%20b"),
        ("http://localhost/a/../b/./c", "http://localhost/b/c"),
        ("", nil),
        ("http://a b/", nil),
        ("http://a\n/", nil),
        ("http://[::1/", nil),
    ]

    @Test(arguments: urls) func url(_ text: String, _ expected: String?) {
        #expect((try? URLArgument(text))?.url.absoluteString == expected)
    }

    static let destinations: [([String], [Destination])] = [
        (["a"], [.standardOutput]),
        (["a", "-o", "-"], [.standardOutput]),
        (["a", "-o", "x"], [.file(path: "x")]),
        (["a", "-ox"], [.file(path: "x")]),
        (["a", "b", "c", "-o", "x", "-o", "y"], [.file(path: "x"), .file(path: "y"), .standardOutput]),
        (["-O", "http://h/a/b.txt?q=/1#/2"], [.file(path: "b.txt")]),
        (["-O", "http://h/a%20b", "h/c"], [.file(path: "a%20b"), .file(path: "c")]),
    ]

    @Test(arguments: destinations) func destination(_ arguments: [String], _ expected: [Destination]) throws {
        #expect(try Self.plan(arguments).loads.map(\.destination) == expected)
    }

    /// What no load is made of, and curl's code for it.
    static let refusals: [([String], ToolStatus)] = [
        ([], .usage),
        (["-I", "-d", "x", "a"], .usage),
        (["-L", "--no-follow", "a"], .usage),
        (["-j", "0", "a"], .usage),
        (["-m", "-1", "a"], .usage),
        (["-m", "nan", "a"], .usage),
        (["-H", "no colon", "a"], .usage),
        (["-H", ": value", "a"], .usage),
        (["-H", "Name; value", "a"], .usage),
        (["-X", "GET /", "a"], .usage),
        (["-X", "", "a"], .usage),
        (["-u", "nobody", "a"], .usage),
        (["-o", "x", "-o", "y", "a"], .usage),
        (["-o", "x", "-O", "http://h/y"], .usage),
        (["-O", "http://h/"], .writeError),
        (["-O", "http://h"], .writeError),
        (["-O", "http://h/a/.."], .writeError),
        (["-O", "http://h/%2e%2E"], .writeError),
        (["-O", "http://h/..%2Fpasswd"], .writeError),
        (["-O", "http://h/a%00b"], .writeError),
        (["-O", "data:,x"], .writeError),
        (["-d", "@missing", "a"], .readError),
        (["--cacert", "missing", "a"], .badAuthorityFile),
        (["--cacert", "form", "a"], .badAuthorityFile),
        (["http://a b/"], .malformedURL),
    ]

    @Test(arguments: refusals) func refusal(_ arguments: [String], _ expected: ToolStatus) {
        let failure = #expect(throws: ToolFailure.self) { try Self.plan(arguments) }
        #expect(failure?.status == expected)
        #expect(failure?.line.hasPrefix("loadkit: (\(expected.rawValue)) ") == true)
    }

    @Test func settings() throws {
        let plain = try Self.plan(["a"])
        #expect(plain.followsRedirects && !plain.failsOnHTTPError && plain.jobs == 1 && plain.maxTime == nil)
        #expect(plain.trust == .system && plain.display == LoadPlan.Display())
        let other = try Self.plan(["-sSfviLk", "--timing", "-m0.5", "-j8", "a"])
        #expect(other.followsRedirects && other.failsOnHTTPError && other.jobs == 8 && other.maxTime == 0.5)
        #expect(other.trust == .everyone)
        let display = LoadPlan.Display(
            showsHead: true, isVerbose: true, showsTiming: true, showsErrors: true, showsProgress: false)
        #expect(other.display == display)
        #expect(try Self.plan(["-s", "a"]).display.showsErrors == false)
        #expect(try Self.plan(["--no-follow", "-m", "0", "a"]).followsRedirects == false)
        #expect(try Self.plan(["--cacert", "ca", "a"]).trust == .authorities(Self.pem))
    }

    @Test func configuration() throws {
        let plain = try Self.plan(["a"]).configuration
        #expect(plain.appTransportSecurity.allowsArbitraryLoads && plain.tlsVerifiesServer)
        #expect(plain.tlsTrustRoots == .system && plain.httpMaximumConnectionsPerHost == 6)
        let other = try Self.plan(["-k", "-m", "2", "-j", "20", "a"]).configuration
        #expect(!other.tlsVerifiesServer && other.timeoutIntervalForResource == 2)
        #expect(other.httpMaximumConnectionsPerHost == 20)
    }
}
