import Foundation
import LoadingKitTesting
import Testing

@Suite struct RedactionTests {
    static let urls: [(String, String)] = [
        ("https://a.test/x?page=2", "https://a.test/x?page=2"),
        ("https://a.test/x?access_token=s3&page=2#frag", "https://a.test/x?access_token=(redacted)&page=2"),
        ("https://a.test/x?Access-Token=s3", "https://a.test/x?Access-Token=(redacted)"),
        ("https://a.test/x?accessToken=s3&apikey=s3", "https://a.test/x?accessToken=(redacted)&apikey=(redacted)"),
        (
            "https://a.test/x?X-Amz-Signature=s3&X-Amz-Date=1",
            "https://a.test/x?X-Amz-Signature=(redacted)&X-Amz-Date=1"
        ),
        ("https://a.test/x?%74oken=s3", "https://a.test/x?%74oken=(redacted)"),
        ("https://a.test/x?token", "https://a.test/x?token"),
        ("/x?user[password]=s3&user%5Btoken%5D=s3", "/x?user[password]=(redacted)&user%5Btoken%5D=(redacted)"),
        ("/x?a.pwd=s3&passwords[]=1", "/x?a.pwd=(redacted)&passwords[]=1"),
        ("/x?a=1;token=s3;s3&b=2;c", "/x?a=1;token=(redacted)&b=2;c"), ("/x?token;a=1&=2", "/x?token;a=1&=2"),
        // Separators that form one character with what is beside them.
        ("/x?a=x\u{600}&password=s3", "/x?a=x\u{600}&password=(redacted)"),
        ("/x?password=\u{301}s3", "/x?password=(redacted)"), ("/\u{600}?password=s3", "/\u{600}?password=(redacted)"),
        ("//user:s3@\u{301}a.test/", "//(redacted)@\u{301}a.test/"),
        ("https://a.test/x?token=", "https://a.test/x?token=(redacted)"),
        ("https://user:s3@a.test/x@y", "https://(redacted)@a.test/x@y"),
        ("/relative?secret=s3", "/relative?secret=(redacted)"), ("//user:s3@a.test/x", "//(redacted)@a.test/x"),
        ("//s3@a.test", "//(redacted)@a.test"), ("/go/http://u:s3@a.test/x@y", "/go/http://(redacted)@a.test/x@y"),
        ("//a.test/x@y", "//a.test/x@y"), ("//a.test//u:s3@b.test", "//a.test//(redacted)@b.test"),
    ]

    @Test(arguments: urls) func url(_ text: String, _ expected: String) {
        #expect(HARRedaction.standard.redact(url: text) == expected)
    }

    static let fields: [(String, String, String)] = [
        ("Accept", "text/plain", "text/plain"),
        ("authorization", "Bearer s3", "Bearer (redacted)"),
        ("Proxy-Authorization", "s3", "(redacted)"),
        ("Authorization", "Digest username=\"u\", response=\"s3\"", "Digest (redacted)"),
        ("Cookie", "sid=\u{301}s3==", "sid=(redacted)"), ("Set-Cookie", "sid=\u{301}s3==", "sid=(redacted)"),
        ("Cookie", "a=s3; b=s3=s3;c", "a=(redacted); b=(redacted); (redacted)"),
        (
            "Set-Cookie", "a=s3; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=s3; HttpOnly",
            "a=(redacted); Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=(redacted); HttpOnly"
        ),
        ("Set-Cookie", "a=s3; x, y ,z;,, b=s3,", "a=(redacted); x, y ,z;,, b=(redacted)"),
        ("X-API-Key", "s3", "(redacted)"), ("X-aws-ec2-metadata-token", "s3", "(redacted)"),
        ("Location", "/next?token=s3", "/next?token=(redacted)"),
        ("Referer", "https://u:s3@a.test/", "https://(redacted)@a.test/"),
        ("Location", "//u:s3@a.test/x", "//(redacted)@a.test/x"),
        ("Refresh", "0; url=http://u:s3@a.test/", "0; url=http://(redacted)@a.test/"),
        ("Link", "<//a.test>, <http://u:s3@a.test/>; rel=next", "<//a.test>, <http://(redacted)@a.test/>; rel=next"),
        ("Content-Location", "/x?token=s3", "/x?token=(redacted)"), ("Referer", "/x?token=s3", "/x?token=(redacted)"),
        ("Refresh", "5; url=/x?page=2&token=s3", "5; url=/x?page=2&token=(redacted)"),
        ("Refresh", "5", "5"), ("Link", "", ""), ("Link", "</x?a=1>", "</x?a=1>"),
        (
            "Link", "</x?token=s3&a=1>; rel=next, <http://u:s3@a.test/?sig=s3>;\u{301}rel=\"a#b\"",
            "</x?token=(redacted)&a=1>; rel=next, <http://(redacted)@a.test/?sig=(redacted)>;\u{301}rel=\"a#b\""
        ),
        ("Link", "</x>; anchor=\"/y?token=s3\", </z?pwd=s3", "</x>; anchor=\"/y?token=(redacted)</z?pwd=(redacted)"),
        ("From", "a@a.test", "a@a.test"),
    ]

    @Test(arguments: fields) func field(_ name: String, _ value: String, _ expected: String) {
        #expect(HARRedaction.standard.redact(field: name, value: value) == expected)
    }

    private static func part(_ name: String, _ content: String, type: String? = nil) -> String {
        let field = type.map { "Content-Type: \($0)\r\n" } ?? ""
        return "--q\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\(field)\r\n\(content)\r\n--q--\r\n"
    }

    /// The colon is a part of a character.
    private static let hidingColon = "Content-Disposition:\u{301} form-data; name=\"pwd\""
    /// The name of the file begins with a character that includes the quotation mark.
    private static let hidingName = "Content-Disposition: form-data; filename=\"\u{301};name=x\"; name=\"pwd\""

    static let bodies: [(String?, String, String)] = [
        ("application/json", #"{ "user":"ann", "password" : "s3" }"#, #"{ "user":"ann", "password" : "(redacted)" }"#),
        (
            "application/json", #"{"a":{"refreshToken":"s3\"s3"},"token":123,"list":[{"secret":[1,"}"]}]}"#,
            #"{"a":{"refreshToken":"(redacted)"},"token":"(redacted)","list":[{"secret":"(redacted)"}]}"#
        ),
        ("application/json", #"{"token":null,"password":true}"#, #"{"token":null,"password":true}"#),
        ("application/json", #"{"tok\u0065n":"s3"}"#, #"{"tok\u0065n":"(redacted)"}"#),
        ("application/json", #"["token","s3","password"]"#, #"["token","s3","password"]"#),
        ("application/vnd.api+json; charset=utf-8", #"{"token":"s3"}"#, #"{"token":"(redacted)"}"#),
        ("text/plain", #" {"token":"s3"}"#, #" {"token":"(redacted)"}"#),
        (nil, #"{"token":"s3"#, #"{"token":"(redacted)""#),
        (nil, #"{"token":{"a":"s3"#, #"{"token":"(redacted)""#),
        (nil, #"{"token":"#, #"{"token":"#),
        (
            "application/x-ndjson", "{\"token\":\"s3\"}\n{\"token\":\"s3\"}",
            "{\"token\":\"(redacted)\"}\n{\"token\":\"(redacted)\"}"
        ),
        (
            "application/x-www-form-urlencoded", "grant=x&client_secret=s3&code=1",
            "grant=x&client_secret=(redacted)&code=1"
        ),
        (
            "application/x-www-form-urlencoded", "user[name]=ann&user[password]=s3&a=x\u{600}&pwd=\u{301}s3",
            "user[name]=ann&user[password]=(redacted)&a=x\u{600}&pwd=(redacted)"
        ),
        ("application/json", #"{"db.password":"s3","passwords":1}"#, #"{"db.password":"(redacted)","passwords":1}"#),
        ("text/plain", "token=s3", "token=s3"),
        (
            "multipart/form-data; boundary=q",
            "--q\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3\r\n--q\r\n"
                + "Content-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--q--\r\n",
            "--q\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n(redacted)\r\n--q\r\n"
                + "Content-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--q--\r\n"
        ),
        (
            "multipart/form-data; boundary=q", "--q\r\n\(hidingName)\r\n\r\ns3\r\n--q--\r\n",
            "--q\r\n\(hidingName)\r\n\r\n(redacted)\r\n--q--\r\n"
        ),
        (
            "multipart/form-data; boundary=q", "--q\r\n\(hidingColon)\r\n\r\ns3\r\n--q--\r\n",
            "--q\r\n\(hidingColon)\r\n\r\n(redacted)\r\n--q--\r\n"
        ),
        ("multipart/form-data; boundary=q", "--q", "--q"),
        // What resembles the boundary is a part of the content.
        (
            "multipart/form-data; boundary=-a-b",
            "---a---a-b\r\nContent-Disposition: form-data; name=\"pwd\"\r\n\r\ns3\r\n---a\r\r\n---a-s3\r\n---a-b--",
            "---a---a-b\r\nContent-Disposition: form-data; name=\"pwd\"\r\n\r\n(redacted)\r\n---a-b--"
        ),
        ("multipart/form-data; boundary=q", part("user[password]", "s3"), part("user[password]", "(redacted)")),
        (
            "multipart/form-data; boundary=q", part("x", #"{"token":"s3"}"#, type: "application/json"),
            part("x", #"{"token":"(redacted)"}"#, type: "application/json")
        ),
        (
            "multipart/form-data; boundary=q", part("x", "a=1&pwd=s3", type: "application/x-www-form-urlencoded"),
            part("x", "a=1&pwd=(redacted)", type: "application/x-www-form-urlencoded")
        ),
    ]

    @Test(arguments: bodies) func body(_ type: String?, _ text: String, _ expected: String) {
        let redacted = HARRedaction.standard.redact(body: Data(text.utf8), contentType: type)
        #expect(String(decoding: redacted, as: UTF8.self) == expected)
    }

    /// Each encoding that JSON once had (RFC 4627 §3), with and without a byte order mark, whole and cut off.
    @Test(arguments: [
        String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
    ])
    func wideBodies(_ encoding: String.Encoding) throws {
        let plain = #"{"a":"ü😀","token":"hunter2","b":"@"}"#
        for mark in ["", "\u{FEFF}"] {
            let whole = try #require((mark + plain).data(using: encoding))
            let redacted = HARRedaction.standard.redact(body: whole, contentType: "application/json")
            let expected = mark + plain.replacing("hunter2", with: "(redacted)")
            #expect(redacted == expected.data(using: encoding))
            for end in 0...whole.count {
                let part = HARRedaction.standard.redact(body: whole.prefix(end), contentType: "application/json")
                #expect(!String(decoding: part.filter { $0 != 0 }, as: UTF8.self).contains("hunt"))
            }
            let open = try #require((mark + #"{"a":1}"#).data(using: encoding))
            #expect(HARRedaction.standard.redact(body: open, contentType: nil) == open)
        }
        // Bytes that are not text are not changed.
        for bytes in [[0xFF, 0xFE, 0x00, 0xD8, 0x41], [0, 0, 0, 1, 0xFF], [0, 0], [0xFE, 0xFF]] as [[UInt8]] {
            #expect(HARRedaction.standard.redact(body: Data(bytes), contentType: nil) == Data(bytes))
        }
    }

    /// Wherever a body was cut off, the part of the secret is not in it.
    @Test func aCutBodyShowsNoSecret() {
        let text = Array(#"{"a":1,"password":"hunter2","token":{"x":["hunter2"]}}"#.utf8)
        for end in 0...text.count {
            let redacted = HARRedaction.standard.redact(body: Data(text.prefix(end)), contentType: "application/json")
            #expect(!String(decoding: redacted, as: UTF8.self).contains("hunt"))
        }
    }

    /// Parts beyond the first thousand are not parsed, and not shown.
    @Test(arguments: [1_000, 1_001]) func aFormOfManyParts(_ count: Int) {
        let one = "--q\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n"
        let thousand = String(repeating: one, count: 1_000)
        let body = count == 1_000 ? thousand + "--q--\r\n" : thousand + Self.part("password", "s3")
        let redacted = HARRedaction.standard.redact(
            body: Data(body.utf8), contentType: "multipart/form-data; boundary=q")
        #expect(String(decoding: redacted, as: UTF8.self) == (count == 1_000 ? body : thousand + "--q(redacted)"))
    }

    @Test func namesCanBeChanged() {
        let redaction = HARRedaction.standard.adding(names: "pin").adding(headerFields: "X-Me").keeping(names: "TOKEN")
        #expect(redaction.redact(url: "/?pin=1&token=2") == "/?pin=(redacted)&token=2")
        #expect(redaction.redact(field: "x-me", value: "1") == "(redacted)")
        for name in ["Location", "Content-Location", "Referer", "Refresh", "Link"] {
            let redaction = HARRedaction.standard.adding(headerFields: name.uppercased())
            #expect(redaction.redact(field: name, value: "/s3") == "(redacted)")
        }
        #expect(HARRedaction.none.redact(url: "http://u:p@a.test/?token=1") == "http://(redacted)@a.test/?token=1")
        #expect(HARRedaction.none.redact(field: "Authorization", value: "Basic x") == "Basic x")
        var open = HARRedaction.standard
        open.openCookies = ["theme"]
        #expect(open.redact(field: "Cookie", value: "theme=dark; sid=1") == "theme=dark; sid=(redacted)")
    }

    @Test func separatorsBeforeCombiningMarksCount() {
        var open = HARRedaction.standard
        open.openCookies = ["theme"]
        #expect(
            open.redact(field: "Cookie", value: "theme=dark;\u{301}sid=1") == "theme=dark; \u{301}sid=(redacted)")
        #expect(open.redact(field: "Authorization", value: "Basic \u{301}secret x") == "Basic (redacted)")
        #expect(
            open.redact(field: "Set-Cookie", value: "theme=dark, sid=\u{301}s3") == "theme=dark, sid=(redacted)")
        let body = open.redact(
            body: Data("pwd=s3".utf8), contentType: "application/x-www-form-urlencoded;\u{301}charset=utf-8")
        #expect(body == Data("pwd=(redacted)".utf8))
    }
}
