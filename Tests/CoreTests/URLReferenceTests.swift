import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import Testing

/// What `Location`, `Content-Location`, `Link` and a command line's arguments lead to.
@Suite struct URLReferenceTests {
    /// A reference, and the URL that it names, seen from `http://h/a/b;c?q#f`.
    struct Case: Sendable, CustomTestStringConvertible {
        let reference: [UInt8]
        let expected: String?
        let testDescription: String

        init(_ reference: String, _ expected: String?) {
            self.init(bytes: Array(reference.utf8), expected)
        }

        init(bytes: [UInt8], _ expected: String?) {
            reference = bytes
            self.expected = expected
            testDescription = String(decoding: bytes, as: UTF8.self)
        }
    }

    static let cases = [
        // Escapes are kept; what needs one gets it.
        Case("/a%20b c", "http://h/a%20b%20c"),
        Case("/%C3%A9/%c3%a9/é", "http://h/%C3%A9/%c3%a9/%C3%A9"),
        Case(bytes: Array("/caf".utf8) + [0xe9], "http://h/caf%E9"),
        Case(bytes: Array("?q=".utf8) + [0xff, 0xc3, 0xa9], "http://h/a/b;c?q=%FF%C3%A9"),
        Case("?q=100%&x=a%20b", "http://h/a/b;c?q=100%25&x=a%20b"),
        Case("/%", "http://h/%25"),
        Case("/%4", "http://h/%254"),
        Case("/%zz%41", "http://h/%25zz%41"),
        Case("/%2F%2e%2E/x", "http://h/%2F%2e%2E/x"),
        Case("?a[]=1|2^3{4}", "http://h/a/b;c?a%5B%5D=1%7C2%5E3%7B4%7D"),
        Case("/\"<>\\`\u{7f}\t", "http://h/%22%3C%3E%5C%60%7F%09"),
        Case("/-._~!$&'()*+,;=:@", "http://h/-._~!$&'()*+,;=:@"),
        Case("/x#a b%20c#d", "http://h/x#a%20b%20c%23d"),
        Case("//us%20er name:p@ss@other/", "http://us%20er%20name:p%40ss@other/"),
        // Each form of reference (RFC 3986 §5.4).
        Case("", "http://h/a/b;c?q"),
        Case("#g", "http://h/a/b;c?q#g"),
        Case("?y", "http://h/a/b;c?y"),
        Case("g", "http://h/a/g"),
        Case("./g", "http://h/a/g"),
        Case("g/", "http://h/a/g/"),
        Case("/g", "http://h/g"),
        Case("//g", "http://g"),
        Case("g?y#s", "http://h/a/g?y#s"),
        Case(";x", "http://h/a/;x"),
        Case(".", "http://h/a/"),
        Case("..", "http://h/"),
        Case("../g", "http://h/g"),
        Case("../../../g", "http://h/g"),
        Case("g.", "http://h/a/g."),
        Case("..g", "http://h/a/..g"),
        Case("./g/.", "http://h/a/g/"),
        Case("g/../h", "http://h/a/h"),
        Case("g?y/../x", "http://h/a/g?y/../x"),
        Case("g#s/../x", "http://h/a/g#s/../x"),
        // Absolute ones lose their dot segments, too.
        Case("http://other/a/./b/../c", "http://other/a/c"),
        Case("http://other/..", "http://other/"),
        Case("https://other", "https://other"),
        Case("http://other?x", "http://other?x"),
        Case("HTTP://Other/", "HTTP://Other/"),
        Case("http://[::1]:80/", "http://[::1]:80/"),
        Case("http://b\u{fc}cher.example/\u{fc}", "http://xn--bcher-kva.example/%C3%BC"),
        Case("http://other//a///b", "http://other//a///b"),
        // Other schemes.
        Case("myapp://callback?code=1%20 2", "myapp://callback?code=1%20%202"),
        Case("mailto:me@h", "mailto:me@h"),
        Case("data:,a/../b c", "data:,a/../b%20c"),
        Case("file:///a/../b", "file:///b"),
        // No URL comes of these.
        Case("http://h:port/", nil),
        Case("http://a b/", nil),
        Case("http://[::1/", nil),
    ]

    @Test(arguments: cases) func resolves(_ test: Case) throws {
        let base = try #require(URL(string: "http://h/a/b;c?q#f"))
        #expect(URL(reference: test.reference, relativeTo: base)?.absoluteString == test.expected)
    }

    /// What is a URL already stays as it is, with a base and without one.
    @Test func isTheSameASecondTime() throws {
        for expected in Self.cases.compactMap(\.expected) {
            let base = try #require(URL(string: "http://other/x"))
            #expect(URL(reference: expected.utf8)?.absoluteString == expected)
            #expect(URL(reference: expected.utf8, relativeTo: base)?.absoluteString == expected)
        }
    }

    @Test func basesWithoutAPathOrAnAuthority() throws {
        for (base, reference, expected) in [
            ("http://h", "g", "http://h/g"), ("http://h?q", "g", "http://h/g"), ("http://h", "../g", "http://h/g"),
            ("http://h", "", "http://h"), ("own:a/b", "c", "own:a/c"), ("own:a", "c", "own:c"),
            ("own:a", "/c/./d", "own:/c/d"),
        ] {
            let base = try #require(URL(string: base))
            #expect(URL(reference: reference.utf8, relativeTo: base)?.absoluteString == expected)
        }
    }

    @Test func everyFieldOfAName() throws {
        var fields = HTTPFields()
        for value in ["/a%20b c", "http://h:port/", "c"] { fields.append(name: "Content-Location", value: value) }
        let base = try #require(URL(string: "http://h/x/y"))
        let urls = fields.urls(of: .contentLocation, relativeTo: base)
        #expect(urls.map(\.absoluteString) == ["http://h/a%20b%20c", "http://h/x/c"])
        #expect(fields.firstURL(of: .contentLocation, relativeTo: base) == urls.first)
        #expect(fields.firstURL(of: .location, relativeTo: base) == nil)
    }

    /// Each of the URLs is as long as the base.
    @Test func thereAreNotTooManyURLs() throws {
        let folder = "http://h/" + String(repeating: "a", count: 250_000) + "/"
        let base = try #require(URL(string: folder + "x"))
        var fields = HTTPFields()
        fields.append(.location, "http://h:port/")
        for index in 1..<990 { fields.append(.location, "b\(index)") }
        #expect(fields.firstURL(of: .location, relativeTo: base)?.absoluteString == folder + "b1")
        let urls = fields.urls(of: .location, relativeTo: base)
        #expect(urls.map(\.absoluteString) == (1..<HTTPFields.maximumURLs).map { folder + "b\($0)" })
    }

    /// Values that are not URLs are not read without end, either.
    @Test func aURLBehindTooManyOtherValuesIsNotFound() throws {
        let base = try #require(URL(string: "http://h/"))
        var fields = HTTPFields()
        for _ in 1..<HTTPFields.maximumURLs { fields.append(.location, "http://h:port/") }
        #expect(fields.firstURL(of: .location, relativeTo: base) == nil)
        for value in ["a", "b"] { fields.append(.location, value) }
        #expect(fields.urls(of: .location, relativeTo: base).map(\.absoluteString) == ["http://h/a"])
        #expect(fields.firstURL(of: .location, relativeTo: base)?.absoluteString == "http://h/a")
    }
}
