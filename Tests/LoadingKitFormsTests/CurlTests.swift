import Foundation
import LoadingKit
import LoadingKitForms
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Commands are run by a shell, with a function in curl's place that prints its arguments.
@Suite struct CurlTests {
    /// The arguments that a shell makes of the command.
    private static func arguments(of command: String) async throws -> [String] {
        let shim = "curl() { for argument; do printf '%s\\0' \"$argument\"; done; }\n"
        let result = try await run("/bin/sh", ["-c", shim + command])
        guard result.status == 0 else { return ["status \(result.status)"] }
        return result.output.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private static let hostile = [
        "", " ", "'", "''", "\"", "it's \"quoted\"", "$HOME ${x} $(id) `id`", "a\nb", "a\r\nb\n", "\\", "a\\'b", "\t",
        "!x",
        "*?[a-z]{1,2}", "~", "#c", "a;b|c&d>e<f", "é 名前 😀", "-x", "@file", "=", "%s%n", "\u{7f}\u{1b}[0m", "a\\\nb",
        // Apostrophes that are one character with a mark.
        "'\u{301};id", "'\u{200d};id", "\u{600}'", "\u{600}';id;\u{600}'",
    ]

    @Test(arguments: hostile) func aBodyIsOneArgument(text: String) async throws {
        var request = try request("http://h.example/")
        request.httpBody = Data(text.utf8)
        var options = CurlOptions()
        for isMultiline in [false, true] {
            options.isMultiline = isMultiline
            let arguments = try await Self.arguments(of: request.curlDescription(options))
            #expect(arguments == ["--compressed", "--data-raw", text, "http://h.example/"])
        }
        options.body = .file(text)
        let arguments = try await Self.arguments(of: request.curlDescription(options))
        #expect(arguments == ["--compressed", "--data-binary", "@\(text)", "http://h.example/"])
    }

    @Test(arguments: hostile) func aFieldIsOneArgument(text: String) async throws {
        var request = try request("http://h.example/", "GET")
        request.setValue(text, forHTTPHeaderField: "X-Field")
        let command = request.curlDescription()
        let arguments = try await Self.arguments(of: command)
        if text.contains(where: \.isNewline) {
            #expect(arguments == ["--compressed", "http://h.example/"] && command.hasSuffix(" # left out: X-Field"))
        } else if text.allSatisfy({ $0 == " " || $0 == "\t" }) {
            #expect(arguments == ["--compressed", "-H", "X-Field;", "http://h.example/"])
        } else {
            #expect(arguments == ["--compressed", "-H", "X-Field: \(text)", "http://h.example/"])
        }
    }

    @Test(
        arguments: [
            ("GET", nil, ["--compressed"]), ("GET", "b", ["-X", "GET", "--compressed", "--data-raw", "b"]),
            ("POST", nil, ["-X", "POST", "--compressed"]), ("POST", "b", ["--compressed", "--data-raw", "b"]),
            ("HEAD", nil, ["--head", "--compressed"]), ("DELETE", nil, ["-X", "DELETE", "--compressed"]),
            ("M-SEARCH", "b", ["-X", "M-SEARCH", "--compressed", "--data-raw", "b"]), ("A B", nil, ["--compressed"]),
            ("$(id)", nil, ["--compressed"]),
        ] as [(String, String?, [String])])
    func methods(method: String, body: String?, expected: [String]) async throws {
        var request = try request("http://h.example/", method)
        request.httpBody = body.map { Data($0.utf8) }
        #expect(try await Self.arguments(of: request.curlDescription()) == expected + ["http://h.example/"])
    }

    @Test func secretsAreHiddenUnlessTheyAreAskedFor() async throws {
        let text =
            "https://user:pa%40ss@h.example:8443/p?a=1&access_token=s3cret&KEY=s3cret&flag&b=c%20d#fragment=s3cret"
        var request = try request(text)
        for name in ["authorization", "Cookie", "Proxy-Authorization", "X-API-Key"] {
            request.setValue("s3cret", forHTTPHeaderField: name)
        }
        request.setValue("https://u:s3cret@h.example/?token=s3cret", forHTTPHeaderField: "Referer")
        request.setForm(["name": "n", "password": "s3cret", "a[Auth_Token]": "s3cret"])
        let hidden = request.curlDescription()
        #expect(!hidden.contains("s3cret") && !hidden.contains("user") && !hidden.contains("pa%40ss"))
        let arguments = try await Self.arguments(of: hidden)
        let visible = "https://HIDDEN:HIDDEN@h.example:8443/p?a=1&access_token=HIDDEN&KEY=HIDDEN&flag&b=c%20d"
        #expect(arguments.last == visible && arguments.contains("name=n&password=HIDDEN&a%5BAuth_Token%5D=HIDDEN"))
        #expect(arguments.contains("authorization: HIDDEN") && arguments.contains("Cookie: HIDDEN"))
        #expect(arguments.contains("Referer: https://HIDDEN:HIDDEN@h.example/?token=HIDDEN"))
        var options = CurlOptions()
        options.showsSecrets = true
        let shown = try await Self.arguments(of: request.curlDescription(options))
        #expect(shown.last == text.replacingOccurrences(of: "#fragment=s3cret", with: ""))
        #expect(shown.contains("authorization: s3cret"))
        #expect(shown.contains("name=n&password=s3cret&a%5BAuth_Token%5D=s3cret"))
    }

    /// A separator that is one character with a combining mark is a separator for servers.
    @Test func secretsAreHiddenBesideCombiningMarks() throws {
        var request = try request("http://h.example/", "GET")
        for (value, shown) in [
            ("https://u:s3@\u{301}h/", "https://HIDDEN:HIDDEN@\u{301}h/"),
            ("https://\u{301}u:s3@h/", "https://HIDDEN:HIDDEN@h/"),
            ("https://u:s3@h/?\u{301}a=b&token=s3", "https://HIDDEN:HIDDEN@h/?\u{301}a=b&token=HIDDEN"),
            ("//u@h/", "//HIDDEN:HIDDEN@h/"), ("https://h/a@b?c@d", "https://h/a@b?c@d"),
        ] {
            request.setValue(value, forHTTPHeaderField: "Referer")
            let command = request.curlDescription()
            #expect(command.utf8.contains("Referer: \(shown)'".utf8) && !command.utf8.contains("s3".utf8))
        }
    }

    @Test func whatIsNoTextComesFromTheStandardInput() async throws {
        var request = try request("http://h.example/")
        for body in [Data([0xff]), Data([0]), Data(repeating: 65, count: 70_000)] {
            request.httpBody = body
            #expect(try await Self.arguments(of: request.curlDescription()).contains("@-"))
        }
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        #expect(request.curlDescription() == "curl --compressed --data-binary @- http://h.example/")
        var options = CurlOptions()
        options.body = .none
        options.isCompressed = false
        #expect(request.curlDescription(options) == "curl -X POST http://h.example/")
        options.body = .file("-")
        options.followsRedirects = true
        #expect(
            request.curlDescription(options)
                == "curl --location --max-redirs 20 --data-binary @./- http://h.example/")
    }

    @Test func whatCurlWouldReadOtherwise() async throws {
        var plain = CurlOptions()
        plain.isCompressed = false
        #expect(
            try request("http://[::1]:80/a", "GET").curlDescription(plain) == "curl --globoff 'http://[::1]:80/a'")
        #expect(
            try request("http://h.example/a/../b", "GET").curlDescription(plain)
                == "curl --path-as-is http://h.example/a/../b")
        var own = try request("http://h.example/", "GET")
        own.setValue("gzip", forHTTPHeaderField: "Accept-Encoding")
        #expect(own.curlDescription() == "curl -H 'Accept-Encoding: gzip' http://h.example/")
    }

    @Test func theSessionsFieldsAndCookiesGoAlong() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "1", "X-Own": "session"]
        let cookie = try #require(
            HTTPCookie(properties: [.name: "id", .value: "s3cret", .domain: "h.example", .path: "/"]))
        configuration.httpCookieStorage?.setCookie(cookie)
        var options = CurlOptions()
        options.configuration = configuration
        options.isCompressed = false
        var request = try request("http://h.example/", "GET")
        request.setValue("request", forHTTPHeaderField: "X-Own")
        #expect(
            request.curlDescription(options)
                == "curl -H 'X-Own: request' -H 'X-Session: 1' -b id=HIDDEN http://h.example/")
        options.showsSecrets = true
        #expect(request.curlDescription(options).contains(" -b id=s3cret "))
        request.httpShouldHandleCookies = false
        #expect(!request.curlDescription(options).contains("-b"))
    }

    /// curl itself sends what LoadingKit sends.
    @Test(.usesPeers) func curlSendsTheSame() async throws {
        if find("curl") == nil { throw MissingProgram(program: "curl", aptPackage: "curl") }
        let server = try LoopbackServer { _ in .text("ok") }
        defer { server.stop() }
        var request = try request(server.url("/a%20b?x=1&y=%27"), "PUT")
        request.setValue("it's $HOME", forHTTPHeaderField: "X-Field")
        request.setValue("", forHTTPHeaderField: "X-Empty")
        request.httpBody = Data("@line 'one'\n`two` é\n".utf8)
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        _ = try await session.data(for: request)
        let result = try await run("/bin/sh", ["-c", request.curlDescription() + " --silent --noproxy '*'"])
        #expect(result.status == 0)
        let (ours, curls) = (try #require(server.requests[0]), try #require(server.requests[1]))
        #expect(ours.method == curls.method && ours.target == curls.target && ours.body == curls.body)
        for name in ["X-Field", "X-Empty", "Content-Type", "Content-Length", "Accept"] {
            #expect(ours.fields[name: name] == curls.fields[name: name], "\(name)")
        }
    }
}
