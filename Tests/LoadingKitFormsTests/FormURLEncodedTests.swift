import Foundation
import LoadingKit
import LoadingKitForms
import LoadingKitLoopbackServer
import Testing

@Suite struct FormURLEncodedTests {
    @Test(arguments: [
        ("", ""), ("a b", "a+b"), ("a+b", "a%2Bb"), ("*-._", "*-._"), ("~!'()", "%7E%21%27%28%29"), ("é", "%C3%A9"),
        ("&=%", "%26%3D%25"), ("\r\n", "%0D%0A"), ("\0", "%00"), ("azAZ09", "azAZ09"), ("😀", "%F0%9F%98%80"),
    ])
    func valuesAreEncodedAsTheStandardHasIt(text: String, encoded: String) {
        #expect(FormURLEncoded([(.init("n", text))]).encoded == "n=\(encoded)")
        #expect(FormURLEncoded(parsing: "n=\(encoded)") == FormURLEncoded([.init("n", text)]))
    }

    @Test(
        arguments: [
            ("", []), ("&&", []), ("a", [("a", "")]), ("=", [("", "")]), ("a=b=c", [("a", "b=c")]),
            ("a=1&b=2&a=3", [("a", "1"), ("b", "2"), ("a", "3")]), ("a=%", [("a", "%")]), ("a=%4", [("a", "%4")]),
            ("a=%zz%41", [("a", "%zzA")]), ("a=%ff", [("a", "\u{fffd}")]), ("%61+b=c+d", [("a b", "c d")]),
            ("a=b\nc", [("a", "b\nc")]),
        ] as [(String, [(String, String)])])
    func whatIsParsed(text: String, pairs: [(String, String)]) {
        #expect(FormURLEncoded(parsing: text).pairs == pairs.map { FormURLEncoded.Pair($0.0, $0.1) })
    }

    @Test func orderStays() {
        var form: FormURLEncoded = ["z": "1", "a": "2", "z": "3"]
        form.append("m", "4")
        #expect(form.encoded == "z=1&a=2&z=3&m=4" && form.values(of: "z") == ["1", "3"] && form["a"] == "2")
    }

    struct Search: Encodable {
        struct Range: Encodable { var from = 1, to: Int? }
        var text = "a b", tags = ["x", "y"], isExact = true, range = Range(), limit: Int?, rate = 0.5
        var data = Data([1, 2])
        var ranges = [Range()]
        var byName = ["k": "v"]
        var link = URL(fileURLWithPath: "/a")
    }

    @Test func valuesOfTypesAreEncoded() throws {
        let form = try FormURLEncoded(Search())
        let expected: FormURLEncoded = [
            "text": "a b", "tags": "x", "tags": "y", "isExact": "true", "range[from]": "1", "rate": "0.5",
            "data": "AQI=",
            "ranges[from]": "1", "byName[k]": "v", "link": "file:///a",
        ]
        #expect(form == expected)
        #expect(throws: EncodingError.self) { try FormURLEncoded([1, 2]) }
        #expect(throws: EncodingError.self) { try FormURLEncoded(7) }
    }

    @Test func aRequestSendsThem() async throws {
        let server = try LoopbackServer {
            .text("\($0.method) \($0.fields[name: "Content-Type"] ?? "") \($0.bodyText)")
        }
        defer { server.stop() }
        var request = URLRequest(url: try url(server.url()))
        request.setForm(["a": "1 2", "b": "ü"])
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "POST application/x-www-form-urlencoded a=1+2&b=%C3%BC")
    }
}
