import CLoadingKitOpenSSL
import Foundation
import LoadingKitFTP
import Testing

@Suite struct ListingDocumentTests {
    private func entry(_ name: String, _ kind: FTPEntry.Kind = .file) -> FTPEntry {
        FTPEntry(name: Array(name.utf8), kind: kind)
    }

    private func row(_ entry: FTPEntry) -> String {
        String(decoding: FTPListingPage(path: Array("/pub".utf8)).row(for: entry), as: UTF8.self)
    }

    @Test func aWholePage() {
        let page = FTPListingPage(path: Array("/pub/a & b".utf8))
        let time = FTPTimestamp(
            year: 2026, month: 1, day: 31, hour: 23, minute: 5, second: 9, precision: .second, isUTC: true)
        let file = FTPEntry(name: Array("read me.txt".utf8), kind: .file, size: 1449, modification: time)
        let link = FTPEntry(name: Array("l".utf8), kind: .link, target: Array("<x>".utf8))
        let bytes =
            page.begin() + page.row(for: file) + page.row(for: entry("d", .directory)) + page.row(for: link)
            + page.end(unreadableLineCount: 0)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"))
        #expect(text.contains("<title>Index of /pub/a &amp; b/</title>"))
        #expect(text.contains("<h1>Index of /pub/a &amp; b/</h1>"))
        let rows = """
            <tr><th>Name<th>Size<th>Modified
            <tr><td><a href="./../">Parent directory</a><td><td>
            <tr><td><a href="./read%20me.txt"><bdi>read me.txt</bdi></a><td>1.4 kB<td>2026-01-31 23:05:09\u{20}
            <tr><td><a href="./d/"><bdi>d/</bdi></a><td><td>
            <tr><td><a href="./l"><bdi>l</bdi></a> → <bdi>&lt;x&gt;</bdi><td><td>
            </table>
            </body>
            </html>

            """
        #expect(text.hasSuffix(rows), "\(text)")
    }

    @Test func theRootHasNoParent() {
        for path in ["", "/", "//"] {
            let text = String(decoding: FTPListingPage(path: Array(path.utf8)).begin(), as: UTF8.self)
            #expect(text.contains("Index of /<") && !text.contains("Parent"))
        }
    }

    @Test func linksOfAPageWithoutASlashAtItsURLsEnd() {
        let page = FTPListingPage(path: Array("/pub/a b".utf8), endsInSlash: false)
        #expect(String(decoding: page.begin(), as: UTF8.self).contains("<a href=\"./a%20b/../\">Parent"))
        #expect(String(decoding: page.row(for: entry("x")), as: UTF8.self).contains("<a href=\"./a%20b/x\">"))
    }

    @Test func noNameLeavesTheDirectory() throws {
        let names = [
            "javascript:alert(1)", "//host/x", "/etc/passwd", "a/b", "..\\x", "a?b#c", "x;type=d", "%2e%2e", "%00",
            "a\r\nb",
            "\u{0}", "http://x/", "data:text/html,x", "\"><script>alert(1)</script>", "' onclick='x", "größe 😀", "~",
            "...",
        ]
        let base = try #require(URL(string: "ftp://host/pub/dir/"))
        for name in names {
            let row = row(entry(name))
            let link = try #require(row.split(separator: "\"").dropFirst().first)
            let url = try #require(URL(string: String(link), relativeTo: base)?.absoluteURL)
            #expect(url.absoluteString.hasPrefix("ftp://host/pub/dir/"), "\(name)")
            let segment = url.absoluteString.dropFirst("ftp://host/pub/dir/".count)
            #expect(!segment.contains { "/?#;:\\".contains($0) }, "\(name)")
            #expect(String(segment).removingPercentEncoding == name)
            // The row's own tags and quotation marks.
            #expect(row.filter { $0 == "<" }.count == 8, "\(row)")
            #expect(row.filter { $0 == "\"" }.count == 2, "\(row)")
            #expect(!row.contains("'"))
        }
        for name in [".", "..", ""] { #expect(!row(entry(name, .directory)).contains("href"), "\(name)") }
    }

    @Test func whatCannotBeSeenIsShown() {
        #expect(row(entry("a\u{0}\r\nb\u{1F}")).contains("<bdi>a&#x2400;&#x240d;&#x240a;b&#x241f;</bdi>"))
        #expect(
            row(entry("a\u{202E}b\u{2067}c\u{7F}d\u{85}e")).contains("<bdi>a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}e</bdi>")
        )
        let broken = FTPEntry(name: [0x61, 0xFF, 0xE9], kind: .file)
        #expect(row(broken).contains("<a href=\"./a%FF%E9\"><bdi>a\u{FFFD}\u{FFFD}</bdi>"))
    }

    @Test func sizes() {
        let sizes: [(UInt64, String)] = [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1449, "1.4 kB"), (999_999, "999.9 kB"),
            (1_000_000, "1.0 MB"),
            (4_700_000_000, "4.7 GB"), (.max, "18.4 EB"),
        ]
        for (size, text) in sizes {
            #expect(row(FTPEntry(name: [0x61], kind: .file, size: size)).contains("<td>\(text)<td>"))
        }
    }

    /// Browsers compare the style with the policy's SHA-256, and leave it out where it differs.
    @Test func thePolicyAllowsItsOwnStyleAlone() throws {
        let text = String(decoding: FTPListingPage(path: []).begin(), as: UTF8.self)
        let start = try #require(text.range(of: "<style>")?.upperBound)
        let end = try #require(text.range(of: "</style>")?.lowerBound)
        let style = Array(text[start..<end].utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_Digest(style, style.count, &digest, nil, EVP_sha256(), nil)
        let hash = Data(digest).base64EncodedString()
        #expect(
            text.contains(
                "content=\"default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'\""))
    }

    @Test func json() throws {
        let time = FTPTimestamp(year: 2026, month: 1, day: 31, hour: 23, minute: 5, precision: .minute, isUTC: false)
        let file = FTPEntry(
            name: [0x61, 0xFF, 0x22, 0x5C, 0x0A, 0x00, 0x20], kind: .file, size: .max, modification: time,
            permissions: "rw-",
            facts: ["type": "file", "a\"b": "\u{1}"])
        let link = FTPEntry(name: Array("größe".utf8), kind: .link, target: [0xE9])
        var json = FTPListingJSON()
        let text = String(
            decoding: json.begin() + json.row(for: file) + json.row(for: link) + json.end(unreadableLineCount: 2),
            as: UTF8.self)
        let first =
            #"{"entries":[{"name":"a�\"\\\u000a\u0000 ","encodedName":"a%FF%22%5C%0A%00%20","type":"file","size":18446744073709551615,"#
            + #""modified":"2026-01-31T23:05","permissions":"rw-","facts":{"a\"b":"\u0001","type":"file"}},"#
        let second =
            #"{"name":"größe","encodedName":"gr%C3%B6%C3%9Fe","type":"link","target":"�","encodedTarget":"%E9"}],"#
        #expect(text == first + "\n" + second + "\n\"unreadableLines\":2}\n")
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect((value?["entries"] as? [[String: Any]])?[0]["name"] as? String == "a\u{FFFD}\"\\\n\u{0} ")
        let empty = FTPListingJSON().begin() + FTPListingJSON().end(unreadableLineCount: 0)
        #expect(String(decoding: empty, as: UTF8.self) == "{\"entries\":[],\n\"unreadableLines\":0}\n")
    }

    @Test func aPageTellsOfLinesThatItDoesNotShow() {
        func end(_ count: Int) -> String {
            String(decoding: FTPListingPage(path: []).end(unreadableLineCount: count), as: UTF8.self)
        }
        #expect(end(0) == "</table>\n</body>\n</html>\n")
        #expect(end(1).contains("<p>This page may lack entries: 1 line of the server's listing could not be read.</p>"))
        #expect(end(12).contains("12 lines of"))
    }
}
