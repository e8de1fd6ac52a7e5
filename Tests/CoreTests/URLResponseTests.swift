import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore

@Suite("Responses")
struct URLResponseTests {
    private let url = URL(fileURLWithPath: "/tmp/a.txt")

    private func response(_ fields: [(String, String)], status: Int = 200, length: Int64 = -1) -> HTTPURLResponse {
        var all = HTTPFields()
        for (name, value) in fields { all.append(name: name, value: value) }
        return HTTPURLResponse(
            url: url, statusCode: status, httpVersion: "HTTP/1.1", fields: all, expectedContentLength: length)
    }

    @Test("keep what they are made of")
    func plain() {
        let response = URLResponse(
            url: url, mimeType: "text/plain", expectedContentLength: 7, textEncodingName: "utf-8")
        #expect(response.url == url && response.mimeType == "text/plain" && response.expectedContentLength == 7)
        #expect(response.textEncodingName == "utf-8" && response.suggestedFilename == "a.txt")
        #expect(response.copy() as? URLResponse === response)
        let same = URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 7, textEncodingName: "utf-8")
        let other = URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 8, textEncodingName: "utf-8")
        #expect(response == same && response.hash == same.hash && response != other)
    }

    @Test("of HTTP find type and encoding among the fields")
    func contentTypes() {
        let cases: [([String], String?, String?)] = [
            (["text/html; charset=UTF-8"], "text/html", "utf-8"), (["TEXT/HTML"], "text/html", nil),
            (["text/html;charset=\"iso-8859-1\""], "text/html", "iso-8859-1"), (["html"], nil, nil), ([""], nil, nil),
            ([], nil, nil), (["text/plain", "text/html"], "text/html", nil),
            (["text/plain, nonsense"], "text/plain", nil),
            (["text/plain;a=\"b, image/png\""], "text/plain", nil), (["text/plain, */*"], "text/plain", nil),
            (["text/html;charset=gbk", "text/html"], "text/html", "gbk"),
            (["text/html;charset=gbk, */*, TEXT/html"], "text/html", "gbk"),
            (["text/html;charset=gbk", "text/plain", "text/html"], "text/html", nil),
            (["text/html;charset=gbk", "text/html;charset=x"], "text/html", "x"),
            (["text/html;charset=gbk", "text/html;charset=x", "text/html"], "text/html", "gbk"),
        ]
        for (values, type, encoding) in cases {
            let response = response(values.map { ("content-type", $0) })
            #expect(response.mimeType == type && response.textEncodingName == encoding, "\(values)")
            #expect(response.mimeType == type, "the second time it is asked for, too")
        }
    }

    @Test("of HTTP give their fields as Apple's do")
    func fields() {
        let response = response([
            ("content-type", "text/html"), ("ETag", "\"1\""), ("www-authenticate", "Basic"), ("x-Custom-hdr", "1"),
            ("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("content-disposition", "attachment; filename=\"../x.html\""),
        ])
        #expect(
            response.allHeaderFields as? [String: String] == [
                "Content-Type": "text/html", "Etag": "\"1\"", "WWW-Authenticate": "Basic", "x-Custom-hdr": "1",
                "Set-Cookie": "a=1, b=2", "Content-Disposition": "attachment; filename=\"../x.html\"",
            ])
        #expect(response.value(forHTTPHeaderField: "etag") == "\"1\"")
        #expect(response.value(forHTTPHeaderField: "SET-COOKIE") == "a=1, b=2")
        #expect(response.value(forHTTPHeaderField: "etagg") == nil)
        #expect(response.suggestedFilename == "x.html")
        #expect(response.description.contains("status: 200"))
    }

    @Test("of HTTP are made from dictionaries")
    func dictionaries() throws {
        let fields = ["content-length": "12", "CONTENT-TYPE": "image/png", "": "nothing"]
        let made = try #require(HTTPURLResponse(url: url, statusCode: 404, httpVersion: nil, headerFields: fields))
        #expect(made.statusCode == 404 && made.expectedContentLength == 12 && made.mimeType == "image/png")
        #expect(made.allHeaderFields as? [String: String] == ["Content-Length": "12", "Content-Type": "image/png"])
        let lengths: [(String, Int64)] = [
            ("-1", -1), ("+1", -1), ("", -1), ("1 2", -1), ("9223372036854775807", .max), ("9223372036854775808", -1),
        ]
        for (value, expected) in lengths {
            let made = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: nil, headerFields: ["Content-Length": value])
            #expect(made?.expectedContentLength == expected, "\(value)")
        }
        #expect(
            HTTPURLResponse(url: url, statusCode: 1, httpVersion: nil, headerFields: nil)?.allHeaderFields.count == 0)
    }

    @Test("are equal when all that they hold is")
    func equality() {
        #expect(response([("A", "1"), ("B", "2")]) == response([("b", "2"), ("a", "1")]))
        #expect(response([("A", "1")]) != response([("A", "2")]))
        #expect(response([("A", "1")]) != response([("A", "1")], status: 201))
        #expect(response([("A", "1")]) != response([("A", "1")], length: 3))
        let plain = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        #expect(plain != response([]) && response([]) != plain)
    }

    @Test("go through an archive")
    func archive() throws {
        let response = response(
            [("Content-Type", "text/html; charset=utf-8"), ("X-A", "1"), ("X-A", "2")], status: 206, length: 5)
        let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResponse.self, from: data))
        #expect(back == response && back.httpVersion == "HTTP/1.1" && back.fields.count == 3)
        #expect(back.mimeType == "text/html" && back.expectedContentLength == 5 && back.url == url)
    }

    @Test("can be subclassed")
    func subclass() {
        final class Special: HTTPURLResponse, @unchecked Sendable {  // has no state of its own
            override var mimeType: String? { "x/special" }
        }
        let special = Special(url: url, statusCode: 200, httpVersion: nil, headerFields: ["Content-Type": "text/html"])
        #expect(special?.mimeType == "x/special" && special?.suggestedFilename == "a.txt")
    }

    @Test("name every status code")
    func statusTexts() {
        let cases = [
            200: "OK", 404: "Not Found", 511: "Network Authentication Required", 299: "Success", 799: "Server Error",
        ]
        for (code, text) in cases { #expect(HTTPURLResponse.localizedString(forStatusCode: code) == text) }
        for code in [Int.min, -1, 0, 199, 399, 499, .max] {
            #expect(!HTTPURLResponse.localizedString(forStatusCode: code).isEmpty)
        }
    }

    @Test("are asked from many threads at once")
    func threads() {
        let response = response([("Content-Type", "text/html; charset=utf-8"), ("A", "b")])
        DispatchQueue.concurrentPerform(iterations: 100) { _ in
            #expect(response.mimeType == "text/html" && response.allHeaderFields["A"] as? String == "b")
        }
    }
}
