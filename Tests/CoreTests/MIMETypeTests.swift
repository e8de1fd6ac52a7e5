import Foundation
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite("MIME types")
struct MIMETypeTests {
    /// One case of the conformance data; `output` is nil for what must not parse.
    private struct Case: Decodable {
        var input: String
        var output: String?
    }

    /// The data's arrays hold titles, as strings, between the cases.
    private enum Entry: Decodable {
        case title
        case test(Case)

        init(from decoder: any Decoder) throws {
            if (try? decoder.singleValueContainer().decode(String.self)) != nil {
                self = .title
            } else {
                self = .test(try Case(from: decoder))
            }
        }
    }

    @Test(
        "parse and serialise as the WHATWG's cases say", .requires(.mime),
        arguments: ["mime-types.json", "generated-mime-types.json"])
    func conformance(file: String) throws {
        let data = try Data(contentsOf: ConformanceTable.mime.url(file))
        let entries = try JSONDecoder().decode([Entry].self, from: data)
        var failures: [String] = []
        var count = 0
        for case .test(let test) in entries {
            count += 1
            let result = MIMEType(test.input)?.serialized
            if result != test.output {
                failures.append("\(test.input.debugDescription): \(result ?? "nil"), not \(test.output ?? "nil")")
            }
        }
        #expect(failures == [])
        #expect(count >= 74)
    }

    @Test("parse and serialise as the MIME Sniffing Standard's section 4 says")
    func parsing() {
        let cases: [(String, String?)] = [
            // The essence: two tokens, in small letters.
            ("text/css", "text/css"), ("TEXT/Css", "text/css"), (" \ttext/css\r\n", "text/css"),
            ("!#$%&'*+-.^_`|~09aZ/b", "!#$%&'*+-.^_`|~09az/b"), ("text/css ;", "text/css"),
            ("", nil), ("text", nil), ("text/", nil), ("/css", nil), ("text/css/x", nil), ("text /css", nil),
            ("text/ css", nil), ("text/c ss", nil), ("text/css,a/b", nil), ("\u{e9}/css", nil), ("text/(", nil),
            ("\u{c}text/css", nil), ("text;a=b/css", nil),
            // Parameters: names in small letters, the first of each name, white space before the name alone.
            ("a/b;C=D", "a/b;c=D"), ("a/b; \tc=d \t;e=f", "a/b;c=d;e=f"), ("a/b;c=d;c=e", "a/b;c=d"),
            ("a/b;c", "a/b"), ("a/b;c;d=e", "a/b;d=e"), ("a/b;c=", "a/b"), ("a/b;=d", "a/b"), ("a/b;;;c=d", "a/b;c=d"),
            ("a/b;c =d", "a/b"), ("a/b;c= d", "a/b;c=\" d\""), ("a/b;(=d;e=f", "a/b;e=f"),
            // Values: quoted where they are no tokens.
            ("a/b;c=d(", "a/b;c=\"d(\""), ("a/b;c='d'", "a/b;c='d'"), ("a/b;c=\u{ff}", "a/b;c=\"\u{ff}\""),
            ("a/b;c=\u{100}", "a/b"), ("a/b;c=\u{b}d", "a/b"), ("a/b;c=\u{7f};c=d", "a/b;c=d"),
            ("a/b;c=\"d\"", "a/b;c=d"), ("a/b;c=\"\"", "a/b;c=\"\""), ("a/b;c=\"d;e=f\";g=h", "a/b;c=\"d;e=f\";g=h"),
            ("a/b;c=\"d", "a/b;c=d"), ("a/b;c=\"d\"e;f=g", "a/b;c=d;f=g"), ("a/b;c=\"\\d\\\"\"", "a/b;c=\"d\\\"\""),
            ("a/b;c=\"\\", "a/b;c=\"\\\\\""), ("a/b;c=d\"", "a/b;c=\"d\\\"\""),
        ]
        for (input, output) in cases { #expect(MIMEType(input)?.serialized == output, "\(input.debugDescription)") }
    }

    @Test("keep parameters in order, the first of each name")
    func parameters() throws {
        let type = try #require(MIMEType("Text/HTML; b=2; A=\"x\\\"y\"; b=3"))
        #expect(type.type == "text" && type.subtype == "html" && type.essence == "text/html")
        #expect(type.parameters.map(\.name) == ["b", "a"])
        #expect(type["b"] == "2" && type["a"] == "x\"y" && type["c"] == nil)
        #expect(type.serialized == "text/html;b=2;a=\"x\\\"y\"")
    }

    /// A field of 256 KiB has room for sixty thousand.
    @Test("have a hundred parameters at most")
    func manyParameters() throws {
        let type = try #require(MIMEType("a/b" + (0..<60_000).map { ";\($0)=c" }.joined()))
        #expect(type.parameters.map(\.name) == (0..<100).map { "\($0)" })
    }

    @Test("take substrings, and tell values apart")
    func equality() {
        #expect(MIMEType("xtext/plain".dropFirst()) == MIMEType("text/plain"))
        #expect(MIMEType("a/b;c=d") != MIMEType("a/b;c=e"))
        #expect(MIMEType("a/b;c=d")?.hashValue == MIMEType("A/B;C=d")?.hashValue)
    }

    @Test("are known by the names of files")
    func filenames() {
        let table: [(String, String?)] = [
            ("a.TXT", "text/plain"), ("d.x/a", nil), (".txt", nil), ("", nil), ("d/.txt", nil),
            ("a.tar.gz", "application/gzip"),
            ("a.", nil), ("/", nil), ("x.whl", "application/zip"),
        ]
        for (name, type) in table { #expect(MIMEType.forFilename(name) == type, "\(name)") }
    }

    @Test("are known by path extensions")
    func extensions() {
        let cases: [(String, String?)] = [
            ("html", "text/html"), ("HTM", "text/html"), ("json", "application/json"), ("png", "image/png"),
            ("JPG", "image/jpeg"), ("ts", "video/mp2t"), ("gz", "application/gzip"), ("nothing", nil), ("", nil),
        ]
        for (name, type) in cases { #expect(MIMEType.forPathExtension(name) == type, "\(name)") }
        let types: [(String, String?)] = [
            ("text/html", "html"), ("TEXT/HTML; charset=utf-8", "html"), ("image/jpeg", "jpg"),
            ("application/javascript", "js"), ("image/jpg", "jpg"), ("x/y", nil), ("", nil),
        ]
        for (type, name) in types { #expect(MIMEType.preferredExtension(for: type) == name, "\(type)") }
    }

    @Test("of the table are valid, written canonically, and lead back to themselves")
    func table() {
        var seen: Set<String> = []
        for (type, extensions) in MIMEType.table {
            #expect(MIMEType(type)?.serialized == type)
            #expect(seen.insert(type).inserted, "\(type) stands twice")
            let preferred = extensions.split(separator: " ").first.map(String.init)
            #expect(preferred.flatMap(MIMEType.forPathExtension) == type)
        }
        #expect(MIMEType.table.count >= 150)
    }
}
