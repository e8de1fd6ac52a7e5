import Foundation
import Testing

@testable import LoadingKitCore

@Suite("Suggested file names")
struct SuggestedFilenameTests {
    private func name(_ disposition: String?, _ url: String = "http://host.example/", _ type: String? = nil) -> String {
        SuggestedFilename(contentDisposition: disposition, url: URL(string: url), mimeType: type).string
    }

    @Test("come from Content-Disposition, RFC 6266 and RFC 8187")
    func disposition() {
        let cases: [(String, String)] = [
            ("attachment; filename=foo.txt", "foo.txt"),
            ("attachment; filename=\"a b.txt\"", "a b.txt"),
            ("attachment; filename=\"a;b.txt\"; x=y", "a;b.txt"),
            ("attachment; filename=\"a\\\"b.txt\"", "a\"b.txt"),
            ("ATTACHMENT; FILENAME = foo.txt", "foo.txt"),
            ("inline;filename=foo.txt", "foo.txt"),
            ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
            ("attachment; filename*=utf-8'en'%E2%82%AC.txt; filename=euro.txt", "€.txt"),
            ("attachment; filename=euro.txt; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
            ("attachment; filename*=iso-8859-1''%a3.txt", "£.txt"),
            // What cannot be decoded does not count.
            ("attachment; filename*=UTF-8''%zz.txt; filename=plain.txt", "plain.txt"),
            ("attachment; filename*=UTF-8''%ff.txt; filename=plain.txt", "plain.txt"),
            ("attachment; filename*=UTF-8''%e; filename=plain.txt", "plain.txt"),
            ("attachment; filename*=koi8-r''%c1.txt; filename=plain.txt", "plain.txt"),
            ("attachment; filename*=foo.txt; filename=plain.txt", "plain.txt"),
            ("attachment; filename=first.txt; filename=second.txt", "first.txt"),
            ("attachment; xfilename=foo.txt", "host.example"),
            ("attachment; filename=\u{301}x.txt", "\u{301}x.txt"),
            ("attachment; filename=\"unterminated.txt", "unterminated.txt"),
            ("filename=foo.txt", "host.example"),
            ("", "host.example"), (";;;=;", "host.example"), ("attachment; filename=", "host.example"),
            ("attachment; filename=\"=?utf-8?Q?foo?=\"", "=?utf-8?Q?foo?="),
        ]
        for (value, expected) in cases { #expect(name(value) == expected, "\(value)") }
    }

    @Test("never leave the folder, hide the file or carry control characters")
    func safety() {
        let cases: [(String, String)] = [
            ("../../etc/passwd.txt", "passwd.txt"), ("..\\\\..\\\\boot.ini", "boot.ini"),
            ("/absolute.txt", "absolute.txt"),
            ("C:\\\\dir\\\\a.txt", "a.txt"), ("..", "host.example"), (".", "host.example"), ("a/", "host.example"),
            ("...", "host.example"), (".bashrc", "bashrc"), ("  .. x.txt  ", "x.txt"),
            ("a\u{0}b\r\n\u{7F}.txt", "ab.txt"),
            ("a\u{202E}txt.exe", "atxt.exe"), ("a\u{85}\u{2028}.txt", "a.txt"), ("/\u{301}x.txt", "\u{301}x.txt"),
        ]
        for (value, expected) in cases {
            #expect(name("attachment; filename=\"\(value)\"") == expected, "\(value.debugDescription)")
        }
        #expect(name("attachment; filename*=UTF-8''%2e%2e%2f%00a.txt") == "a.txt")
        #expect(name(nil, "http://h/a%2Fb%5C%2e%2e%5Cc.txt") == "c.txt")
        #expect(name(nil, "http://h/%2e%2e") == "h")
    }

    /// The time must not grow with the square of the name's length, which a server chooses.
    @Test("are found in a long name", .timeLimit(.minutes(5)))
    func longNames() {
        let dots = String(repeating: ".", count: 2_000_000)
        #expect(name("attachment; filename=\(dots)x.txt") == "x.txt")
    }

    @Test("fall back on the URL's path, its host, and Unknown, and get the type's extension")
    func fallbacks() {
        let cases: [(String, String?, String)] = [
            ("http://host.example/a/b.html", "image/png", "b.html"),
            ("http://host.example/a/b", "text/html", "b.html"),
            ("http://host.example/a/b/", "image/png", "b.png"),
            ("http://host.example/b", "application/octet-stream", "b"),
            ("http://host.example/b", "x/unheard-of", "b"),
            ("http://host.example/b?name=c.txt#d.txt", nil, "b"),
            ("http://host.example/", "text/html", "host.example.html"),
            ("http://host.example", nil, "host.example"),
            ("data:text/plain,x", "text/plain", "Unknown.txt"),
            ("data:,x", nil, "Unknown"),
            ("http://h/%E2%82%AC.txt", nil, "€.txt"),
        ]
        for (url, type, expected) in cases { #expect(name(nil, url, type) == expected, "\(url)") }
        #expect(name("attachment; filename=x", "http://h/y.txt", "image/gif") == "x.gif")
        #expect(SuggestedFilename(contentDisposition: nil, url: nil, mimeType: nil).string == "Unknown")
    }

    @Test("fit a file system")
    func length() {
        let long = String(repeating: "é", count: 300)
        for disposition in ["\(long).txt", "x.\(long)", long] {
            let result = name("attachment; filename=\"\(disposition)\"")
            #expect(result.utf8.count <= 255 && result.utf8.count > 250)
        }
        #expect(name("attachment; filename=\"\(long).txt\"").hasSuffix("é.txt"))
        #expect(name("attachment; filename=\"\(long)\"", "http://h/", "text/html").hasSuffix("é.html"))
    }
}
