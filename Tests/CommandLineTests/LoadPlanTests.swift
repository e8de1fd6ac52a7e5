import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import Testing

@testable import loadkit

/// Converts arguments to requests.
@Suite struct LoadPlanTests {
    private static func plan(_ arguments: [String]) throws -> LoadPlan {
        let expanded = try Arguments(arguments, readFile: read).requests[0]
        return try LoadPlan(LoadCommand.parse(expanded), readFile: read) { "asked for \($0)" }
    }

    @Sendable private static func read(_ path: String) throws -> Data {
        let files = [
            "form": "a=1\r\nb=2\n\0", "-": "from input\n", "ca": pem, "fields": "X-One: a\n# no\n\nX-Two: b\n",
            "config":
                "# a comment\nheader = \"X-Quoted: \\\"a\\tb\\\"\"\n-XPUT\nuser-agent: me/3\n--silent\nurl=http://h/\n",
            "c:a": pem, "netrc": "machine localhost login ann password p1 default login bob password p2",
        ]
        guard let content = files[path] else { throw CocoaError(.fileReadNoSuchFile) }
        return Data(content.utf8)
    }

    private static let pem = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"

    /// The properties of the request.
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
        RequestCase(arguments: ["-HX-One: a", "-H", "x-one: b"], fields: ["X-One": "a, b"]),
        RequestCase(arguments: ["-H", "Accept:"], fields: ["Accept": nil]),
        RequestCase(arguments: ["-H", "X-Empty;"], fields: ["X-Empty": ""]),
        RequestCase(arguments: ["-A", "me/1"], fields: ["User-Agent": "me/1"]),
        RequestCase(
            arguments: ["--basic", "-u", "Aladdin:open sesame"],
            fields: ["Authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]),
        RequestCase(arguments: ["-u", "Aladdin:open sesame"], fields: ["Authorization": nil]),
        RequestCase(arguments: ["--basic", "-u", "a:", "-H", "Authorization: x"], fields: ["Authorization": "x"]),
        RequestCase(arguments: ["--oauth2-bearer", "t"], fields: ["Authorization": "Bearer t"]),
        RequestCase(arguments: ["-e", "http://from/;auto"], fields: ["Referer": "http://from/"]),
        RequestCase(arguments: ["-r", "0-9"], fields: ["Range": "bytes=0-9"]),
        RequestCase(arguments: ["-C", "7", "-o", "x"], fields: ["Range": "bytes=7-"]),
        RequestCase(arguments: ["-H", "@fields"], fields: ["X-One": "a", "X-Two": "b"]),
        RequestCase(arguments: ["--data-raw", "@form"], method: "POST", body: "@form"),
        RequestCase(arguments: ["--data-binary", "@form"], method: "POST", body: "a=1\r\nb=2\n\0"),
        RequestCase(
            arguments: [
                "--data-urlencode", "a=b c&", "-d", "d=1", "--data-urlencode", "=é", "--data-urlencode", "f@form",
            ],
            method: "POST", body: "a=b%20c%26&d=1&%C3%A9&f=a%3D1%0D%0Ab%3D2%0A%00"),
        RequestCase(
            arguments: ["--json", "{\"a\":", "--json", "1}"], method: "POST", body: "{\"a\":1}",
            fields: ["Content-Type": "application/json", "Accept": "application/json"]),
        RequestCase(arguments: ["-G", "-d", "a=1"], body: nil, fields: ["Content-Type": nil]),
        RequestCase(arguments: ["-IGd", "a=1"], method: "HEAD", body: nil),
        RequestCase(
            arguments: ["-K", "config"], method: "PUT", fields: ["X-Quoted": "\"a\tb\"", "User-Agent": "me/3"]),
    ]

    @Test(arguments: requests) func request(_ expected: RequestCase) throws {
        let plan = try Self.plan(expected.arguments + ["http://localhost/"])
        let request = try #require(plan.loads.first).request
        #expect(request.httpMethod == expected.method)
        var body: String?
        if case .data(let data) = plan.content { body = String(decoding: data.bytes, as: UTF8.self) }
        #expect(body == expected.body)
        let found = expected.fields.keys.map { request.value(forHTTPHeaderField: $0) }
        #expect(found == expected.fields.keys.map { expected.fields[$0] ?? nil })
    }

    /// The content of a file in a field is sent as it is, in any encoding.
    @Test func formField() throws {
        let bytes = Data([0xe9, 0x0d, 0xff, 0x00])
        let form = try FormArgument.form(["form a=<-;type=x/y;filename=f"]) { _ in bytes }
        let part = try #require(form?.parts.first)
        #expect(part.name == "a" && part.filename == nil && part.contentType == "x/y")
        var sent: Data?
        if case .data(let data) = part.content { sent = data }
        #expect(sent == bytes)
    }

    /// A mark that forms one character with a separator before it does not hide the separator.
    @Test func marksBehindSeparators() throws {
        let text = "form \u{301}a=\u{301}b;\u{301}c;type=x/y;filename=\u{301}f"
        let form = try FormArgument.form([text]) { _ in Data() }
        let part = try #require(form?.parts.first)
        #expect(part.name == "\u{301}a" && part.contentType == "x/y" && part.filename == "\u{301}f")
        var sent: Data?
        if case .data(let data) = part.content { sent = data }
        #expect(sent == Data("\u{301}b;\u{301}c".utf8))
        let typed = try FormArgument.form(["form a=b;\u{301}c;type=\u{301}x"]) { _ in Data() }
        #expect(typed?.parts.first?.contentType == "\u{301}x")
        let field = try FieldArgument("X:\u{301}v")
        #expect(field.name == "X" && field.value == "\u{301}v")
        #expect(try Arguments(["--user=\u{301}ann"], readFile: Self.read).requests == [["--user", "\u{301}ann"]])
        for option in [["--resolve", "h:1:\u{301}x"], ["--connect-to", "h:1:\u{301}x:2"]] {
            #expect(throws: Never.self) { try Self.plan(option + ["h"]) }
        }
    }

    /// URLs with `-u`, the server that asks for a password, and whether it gets that of `-u`.
    static let askers: [(url: String, kind: String, port: Int, isServer: Bool)] = [
        ("https://h:8443/", NSURLProtectionSpaceHTTPS, 8443, true),
        ("https://h:8443/", NSURLProtectionSpaceHTTP, 8443, false),
        ("https://h:8443/", NSURLProtectionSpaceHTTPS, 443, false),
        ("wss://h/", NSURLProtectionSpaceHTTPS, 443, true), ("wss://h:80/", NSURLProtectionSpaceHTTP, 80, false),
        ("http://h/", NSURLProtectionSpaceHTTP, 80, true), ("http://h:81/", NSURLProtectionSpaceHTTPS, 81, false),
        ("ws://h/", NSURLProtectionSpaceHTTP, 80, true), ("ftp://h/", NSURLProtectionSpaceFTP, 21, true),
        ("ftps://h/", NSURLProtectionSpaceFTP, 990, true),
    ]

    @Test(arguments: askers) func asker(_ url: String, _ kind: String, _ port: Int, _ isServer: Bool) throws {
        let plan = try Self.plan(["-u", "joe:pw", url])
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let space = URLProtectionSpace(
            host: "h", port: port, protocol: kind, realm: "r", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil)
        let passwords = Recorder<String?>()
        ChallengeAnswers(plan).urlSession(
            session, task: session.dataTask(with: plan.loads[0].request), didReceive: challenge
        ) { _, credential in
            passwords.append(credential?.password)
        }
        #expect(passwords.snapshot == [isServer ? "pw" : nil])
    }

    /// Arguments, and the credential for the server.
    static let logins: [([String], Login?)] = [
        (["http://localhost/"], nil),
        (["http://Aladdin:open%20sesame@localhost/"], Login(user: "Aladdin", password: "open sesame")),
        (["-u", "me:a:b", "http://ann@localhost/"], Login(user: "me", password: "a:b")),
        (["-u", "joe", "http://localhost/"], Login(user: "joe", password: "asked for joe")),
        (["-u", "joe:", "http://localhost/"], Login(user: "joe", password: "")),
        (["-u", "joe:\u{301}x", "http://localhost/"], Login(user: "joe", password: "\u{301}x")),
        (["--netrc-file", "netrc", "http://LOCALHOST/"], Login(user: "ann", password: "p1")),
        (["--netrc-file", "netrc", "http://other/"], Login(user: "bob", password: "p2")),
        (["--netrc-file", "netrc", "http://ann@localhost/"], Login(user: "ann", password: "p1")),
        (["--netrc-file", "netrc", "-u", "x:y", "http://localhost/"], Login(user: "x", password: "y")),
    ]

    @Test(arguments: logins) func login(_ arguments: [String], _ expected: Login?) throws {
        let load = try #require(Self.plan(arguments).loads.first)
        #expect(load.login == expected)
        #expect(expected?.password.isEmpty != false || !load.label.contains(expected?.password ?? "-"))
    }

    /// Options for the query and the name of an upload, and the URL.
    static let queries: [([String], String)] = [
        (["-G", "-d", "a=1", "--data-urlencode", "b=x y", "h/p"], "http://h/p?a=1&b=x%20y"),
        (["-G", "-d", "a=1", "h/p?z=0#part"], "http://h/p?z=0&a=1"),
        (["--url-query", "a=x y", "--url-query", "+b=%20", "h/"], "http://h/?a=x%20y&b=%20"),
        (["--url", "h/u"], "http://h/u"),
        (["-g", "h/[1-2]"], "http://h/%5B1-2%5D"),
        // A folder's URL gets the name of the file.
        (["-T", "/dev/null", "h/a%2Fb%20c/"], "http://h/a%2Fb%20c/null"),
        (["-T", "/dev/null", "h/%FF/"], "http://h/%FF/null"), (["-T", "/dev/null", "h"], "http://h/null"),
        (["-T", "/dev/null", "h/p/?z=0"], "http://h/p/null?z=0"), (["-T", "/dev/null", "h/p"], "http://h/p"),
        (["-T", "/dev/null", "--url-query", "a=1", "h/p/?z=0#part"], "http://h/p/null?z=0&a=1"),
        (["-T", "/dev/null", "--url-query", "a=1", "h"], "http://h/null?a=1"),
    ]

    @Test(arguments: queries) func query(_ arguments: [String], _ expected: String) throws {
        #expect(try Self.plan(arguments).loads.map(\.request.url?.absoluteString) == [expected])
    }

    /// A URL with brackets, and the URLs that it stands for; nil where it is not one.
    static let patterns: [(String, [String]?)] = [
        ("h/a", ["h/a"]),
        ("h/[1-3]", ["h/1", "h/2", "h/3"]),
        ("h/[08-10]", ["h/08", "h/09", "h/10"]),
        ("h/[1-9:4]", ["h/1", "h/5", "h/9"]),
        ("h/[a-c]{x,}", ["h/ax", "h/a", "h/bx", "h/b", "h/cx", "h/c"]),
        ("h/{one,two}/{a}", ["h/one/a", "h/two/a"]),
        ("http://[::1]:80/", ["http://[::1]:80/"]),
        ("h/\\{a\\}", ["h/{a}"]),
        ("h/[1-", nil),
        ("h/{a", nil),
        ("h/[3-1]", nil),
        ("h/[1-2:0]", nil),
        ("h/[1-99999999]", nil),
        ("h/[0-999][0-999]", nil),
    ]

    @Test(arguments: patterns) func pattern(_ text: String, _ expected: [String]?) {
        #expect((try? URLPattern(text))?.urls.map(\.text) == expected)
    }

    static let arguments: [([String], [String])] = [
        (["-sS", "-vXPOST", "a"], ["-s", "-S", "-v", "-X", "POST", "a"]),
        (["-sd", "-sS", "-d", "-d"], ["-s", "--data", "data -sS", "--data", "data -d"]),
        (["-da=1", "--json", "{}"], ["--data", "data a=1", "--data", "json {}"]),
        (["-F", "a=1", "--form-string=b=@"], ["--form", "form a=1", "--form", "form-string b=@"]),
        (["--output", "-sS", "-sS"], ["--output", "-sS", "-s", "-S"]),
        (["--output=x", "-sS", "-", "-o"], ["--output", "x", "-s", "-S", "-", "-o"]),
        (["-sS", "--", "-sS"], ["-s", "-S", "--", "-sS"]),
        (["-H-d", "-sS"], ["-H", "-d", "-s", "-S"]),
        (["--url", "a", "-#qN"], ["a", "-#", "-q", "-N"]),
        (["--nonsense=x"], ["--nonsense=x"]),
        ([], []),
    ]

    @Test(arguments: arguments) func expansion(_ arguments: [String], _ expected: [String]) throws {
        #expect(try Arguments(arguments).requests == [expected])
    }

    /// Arguments, and what others may see of them.
    static let secrets: [(arguments: [String], visible: [String])] = [
        (["load", "-u", "a:SECRET", "-su", "a:SECRET", "h"], ["load", "-u", "", "-su", "", "h"]),
        (["-ua:SECRET", "-sua:SECRET", "--user=a:SECRET"], ["-u", "-su", "--user="]),
        (["-E", "x:SECRET", "--cert=x:SECRET", "--pass", "SECRET"], ["-E", "", "--cert=", "--pass", ""]),
        (["--oauth2-bearer", "SECRET", "-HA: SECRET", "-b", "SECRET"], ["--oauth2-bearer", "", "-H", "-b", ""]),
        (["-x", "a:SECRET@p", "-UuU:SECRET", "--socks5=a:SECRET@p"], ["-x", "", "-U", "--socks5="]),
        (["-u", "--user", "--user=\u{301}SECRET"], ["-u", "", "--user="]),
        (["-o", "-u", "a:b", "-"], ["-o", "-u", "a:b", "-"]), (["-d", "-ua:b", "h"], ["-d", "-ua:b", "h"]),
        (["--", "-u", "a:b"], ["--", "-u", "a:b"]), (["-s", "-u"], ["-s", "-u"]), ([], []),
    ]

    @Test(arguments: secrets) func secret(_ arguments: [String], _ visible: [String]) {
        let lengths = Arguments.publicLengths(of: arguments)
        #expect(zip(arguments, lengths).map { String(decoding: $0.utf8.prefix($1), as: UTF8.self) } == visible)
    }

    /// The table and the documentation have the options that the parser knows.
    @Test func optionNames() throws {
        let page = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
                "../../Sources/LoadingKit/LoadingKit/LoadingKit.docc/CommandLine.md"), encoding: .utf8)
        let documented = Set(page.split { " `|,;\n".contains($0) }.map(String.init))
        struct Dump: Decodable {
            struct Command: Decodable { let arguments: [Argument]? }
            struct Argument: Decodable {
                let kind: String
                let names: [Name]?
            }
            struct Name: Decodable {
                let kind: String
                let name: String
            }
            let command: Command
        }
        let dump = try JSONDecoder().decode(Dump.self, from: Data(LoadCommand._dumpHelp().utf8))
        let arguments = dump.command.arguments ?? []
        #expect(arguments.count > 60)
        for argument in arguments {
            for name in argument.names ?? [] {
                let text = name.kind == "long" ? "--\(name.name)" : "-\(name.name)"
                #expect(OptionNames.all.hasValue(text) == (argument.kind == "option"), "\(text)")
                let isKnown = argument.names?.contains { $0.name == OptionNames.all.long(text) } ?? false
                #expect(isKnown && documented.contains(text) || text == "--help" || text == "-h", "\(text)")
            }
        }
    }

    @Test func next() throws {
        let requests = try Arguments(["-s", "a", "--next", "-d", "x", "b", "-:", "c"]).requests
        #expect(requests == [["-s", "a"], ["--data", "data x", "b"], ["c"]])
    }

    /// A file that names itself has an end.
    @Test func recursion() {
        #expect(throws: ToolFailure.self) { try Arguments(["-K", "f"]) { _ in Data("config f\n".utf8) } }
        #expect(throws: ToolFailure.self) { try Arguments(["-K", "f"]) { _ in Data("header = \"a\n".utf8) } }
    }

    /// A URL as it is typed, and as it is loaded; nil where the text is not a URL.
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
        (["a", "-o", "-"], [.untouchedOutput]),
        (["a", "-o", "x"], [.file(path: "x")]),
        (["a", "-ox"], [.file(path: "x")]),
        (["a", "b", "c", "-o", "x", "-o", "y"], [.file(path: "x"), .file(path: "y"), .standardOutput]),
        (["-O", "http://h/a/b.txt?q=/1#/2"], [.file(path: "b.txt")]),
        (["-O", "http://h/a%20b", "h/c"], [.file(path: "a%20b"), .file(path: "c")]),
        (["-O", "--output-dir", "d", "h/a"], [.file(path: "d/a")]),
        (["-o", "f#1-#2", "h/[1-2]{x,y}"], ["f1-x", "f1-y", "f2-x", "f2-y"].map { .file(path: $0) }),
        (["-OJ", "h/a"], [.named(folder: "", name: "a")]),
    ]

    @Test(arguments: destinations) func destination(_ arguments: [String], _ expected: [Destination]) throws {
        #expect(try Self.plan(arguments).loads.map(\.destination) == expected)
    }

    /// Invalid arguments, and curl's exit code for each.
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
        (["-d", "x", "-F", "a=b", "a"], .usage),
        (["-F", "nothing", "a"], .usage),
        (["-F", "a=@missing", "a"], .readError),
        (["-T", "missing", "a"], .readError),
        (["-K", "missing", "a"], .readError),
        (["-H", "@missing", "a"], .readError),
        (["--netrc-file", "missing", "a"], .readError),
        (["-w", "@missing", "a"], .readError),
        (["-C", "x", "a"], .usage),
        (["-b", "=x", "a"], .usage),
        (["-b", "a=\u{1}", "a"], .usage),
        (["--max-filesize", "1x", "a"], .usage),
        (["--connect-timeout", "-1", "a"], .usage),
        (["--resolve", "h:1", "a"], .usage),
        (["--connect-to", "h:x:h:1", "a"], .usage),
        (["--pinnedpubkey", "sha256//x", "a"], .usage),
        (["--pinnedpubkey", "", "a"], .usage),
        (["--pinnedpubkey", ";", "a"], .usage),
        (["--tls-max", "1.2", "--tlsv1.3", "a"], .usage),
        (["-f", "--fail-with-body", "a"], .usage),
        (["-x", "p", "--socks5", "q", "a"], .usage),
        (["--cert", "missing", "a"], .clientCertificate),
        (["--cert", "ca", "a"], .clientCertificate),
        (["--interface", "host!name.invalid", "a"], .interfaceFailed),
        (["h/[1-"], .malformedURL),
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

    /// Certificates with passwords, and how the failure begins, which has no part of the password.
    static let certificates: [(argument: String, reason: String)] = [
        ("ca:s:ecret", "--cert ca: "), ("c:a:s:ecret", "--cert c:a: "), ("c:a", "--cert c:a: "),
        ("none:s:ecret", "the certificate or key in none cannot be read"),
    ]

    @Test(arguments: certificates) func certificate(_ argument: String, _ reason: String) {
        let failure = #expect(throws: ToolFailure.self) { try Self.plan(["--cert", argument, "a"]) }
        #expect(failure?.reason?.hasPrefix(reason) == true && failure?.reason?.contains("ecret") == false)
    }

    @Test func settings() throws {
        let plain = try Self.plan(["a"])
        #expect(plain.rules.followsRedirects && plain.rules.errorStatus == .isSuccess && plain.jobs == 1)
        #expect(plain.rules.maximumTime == nil && plain.session.trust == .system && plain.display == LoadPlan.Display())
        let other = try Self.plan(["-sSfviLk", "--timing", "-m0.5", "-j8", "a"])
        #expect(other.rules.followsRedirects && other.rules.errorStatus == .fails && other.jobs == 8)
        #expect(other.rules.maximumTime == 0.5 && other.session.trust == .everyone)
        let display = LoadPlan.Display(
            showsHead: true, isVerbose: true, showsTiming: true, showsErrors: true, showsProgress: false)
        #expect(other.display == display)
        #expect(try Self.plan(["-s", "a"]).display.showsErrors == false)
        #expect(try Self.plan(["--no-progress-meter", "a"]).display == LoadPlan.Display(showsProgress: false))
        #expect(try Self.plan(["-#", "a"]).display == LoadPlan.Display(showsProgressBar: true))
        #expect(try Self.plan(["-N", "a"]).display == LoadPlan.Display(laysOut: false))
        let files = LoadPlan.Display(colour: .never, timingFile: "t")
        #expect(try Self.plan(["--color", "never", "--timing-json", "t", "a"]).display == files)
        #expect(throws: (any Error).self) { try Self.plan(["--color", "sometimes", "a"]) }
        #expect(try Self.plan(["--no-follow", "-m", "0", "a"]).rules.followsRedirects == false)
        #expect(try Self.plan(["--cacert", "ca", "a"]).session.trust == .authorities(Self.pem))
        #expect(try Self.plan(["-Z", "a"]).jobs == 50 && Self.plan(["-Z", "--parallel-max", "3", "a"]).jobs == 3)
        let limits = try Self.plan(["--max-filesize", "2k", "--limit-rate", "1M", "--max-redirs", "3", "a"]).rules
        #expect(try Self.plan(["--limit-rate", "999999999999999g", "a"]).rules.rate == 1_000_000_000_000_000_000)
        #expect(limits.maximumSize == 2048 && limits.rate == 1 << 20 && limits.maximumRedirects == 3)
    }

    @Test func configuration() throws {
        let plain = try Self.plan(["a"]).configuration
        #expect(plain.appTransportSecurity.allowsArbitraryLoads && plain.tlsVerifiesServer && plain.allowsHTTP2)
        #expect(plain.tlsTrustRoots == .system && plain.httpMaximumConnectionsPerHost == 6)
        #expect(
            plain.tlsMinimumSupportedProtocolVersion == .TLSv12 && plain.tlsMaximumSupportedProtocolVersion == .TLSv13)
        let other = try Self.plan(["-k", "-m", "2", "-j", "20", "--http1.1", "--tlsv1.3", "a"]).configuration
        #expect(!other.tlsVerifiesServer && other.timeoutIntervalForResource == 2 && !other.allowsHTTP2)
        #expect(other.httpMaximumConnectionsPerHost == 20 && other.tlsMinimumSupportedProtocolVersion == .TLSv13)
        #expect(try Self.plan(["--tls-max", "1.2", "a"]).configuration.tlsMaximumSupportedProtocolVersion == .TLSv12)
        for (name, oldest) in [
            ("--tlsv1", .TLSv10), ("--tlsv1.0", .TLSv10), ("--tlsv1.1", .TLSv11), ("--tlsv1.2", .TLSv12),
        ] as [(String, tls_protocol_version_t)] {
            #expect(try Self.plan([name, "a"]).configuration.tlsMinimumSupportedProtocolVersion == oldest, "\(name)")
        }
        #expect(try Self.plan(["--http2-prior-knowledge", "a"]).configuration.assumesCleartextHTTP2)
    }

    /// Options for proxies, the environment, and the variables that apply.
    static let proxies: [(options: [String], environment: [String: String], expected: [String: String])] = [
        ([], ["http_proxy": "p:1", "NO_PROXY": "a"], ["http_proxy": "p:1", "NO_PROXY": "a"]),
        (
            ["-x", "q", "-U", "a:b"], ["http_proxy": "p:1", "ALL_PROXY": "p", "NO_PROXY": "a"],
            ["all_proxy": "http://a:b@q"]
        ),
        // The user is also for the environment's proxies.
        (
            ["-U", "a:b c"], ["http_proxy": "p:1", "HTTPS_PROXY": "socks5://q", "no_proxy": "x"],
            ["http_proxy": "http://a:b%20c@p:1", "HTTPS_PROXY": "socks5://a:b%20c@q", "no_proxy": "x"]
        ),
        (
            ["-U", "a:b"], ["ftp_proxy": "", "all_proxy": "http://c:d@p", "FTP_PROXY": "p"],
            ["ftp_proxy": "", "all_proxy": "http://c:d@p", "FTP_PROXY": "http://a:b@p"]
        ),
        (["--noproxy", ""], ["http_proxy": "p:1", "NO_PROXY": "a"], ["http_proxy": "p:1", "no_proxy": ""]),
    ]

    @Test(arguments: proxies)
    func proxy(_ options: [String], _ environment: [String: String], _ expected: [String: String]) throws {
        let command = try LoadCommand.parse(options + ["h"])
        #expect(try ProxyPlan(command.connection, environment: environment).variables == expected)
    }

    /// URLs, and the cookies of `-b` that the first one and the host's http URLs get from the storage. Others are sent as
    /// they are given.
    static let cookieRows: [(urls: [String], names: [String], cleartext: [String])] = [
        (["https://h/"], ["a", "__Host-b", "__SECURE-c"], []), (["wss://h/"], ["a", "__Host-b", "__SECURE-c"], []),
        (["https://h/", "http://other/"], ["a", "__Host-b", "__SECURE-c"], []), (["http://h/"], ["a"], ["a"]),
        (["https://h/", "http://h/"], ["a"], ["a"]),
    ]

    @Test(arguments: cookieRows) func cookies(_ urls: [String], _ names: [String], _ cleartext: [String]) throws {
        let pairs = "a=1; __Host-b=2; __SECURE-c=3"
        let configuration = try Self.plan(["-b", pairs] + urls).configuration
        let storage = try #require(configuration.httpCookieStorage)
        let url = try #require(URL(string: urls[0]))
        #expect(storage.cookies(for: url)?.map(\.name) == names)
        let redirected = try #require(URL(string: "http://h/"))
        #expect((storage.cookies(for: redirected) ?? []).map(\.name) == cleartext)
        // The usual storage would not send cookies with these prefixes to an http URL.
        #expect((type(of: storage) == HTTPCookieStorage.self) == (urls.allSatisfy { !$0.hasPrefix("http:") }))
    }

    /// URLs with a cookie of `-b` that is too long for a storage, and how often it is sent to the host with and without
    /// TLS.
    static let longCookieRows: [(urls: [String], counts: [Int])] = [
        (["https://h/"], [1, 0]), (["wss://h/"], [1, 0]), (["http://h/"], [1, 1]),
        (["https://h/", "http://h/"], [1, 1]), (["https://other/"], [0, 0]),
    ]

    @Test(arguments: longCookieRows) func longCookies(_ urls: [String], _ counts: [Int]) throws {
        let configuration = try Self.plan(["-b", "a=" + String(repeating: "x", count: 5000)] + urls).configuration
        let storage = try #require(configuration.httpCookieStorage)
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let found = Recorder<Int>()
        for url in ["https://h/", "http://h/"] {
            let task = session.dataTask(with: try #require(URL(string: url)))
            storage.getCookiesFor(task) { found.append($0?.count ?? 0) }
        }
        #expect(found.snapshot == counts)
    }

    /// Options of curl's that change nothing are accepted.
    @Test(arguments: AcceptedOption.allCases) func accepted(_ option: AcceptedOption) throws {
        let name = option == .http09 ? "http0.9" : option.rawValue
        let words = name.reduce("") { $0 + ($1.isUppercase ? "-\($1.lowercased())" : "\($1)") }
        #expect(try Self.plan(["--\(words)", "a"]).loads.count == 1)
    }

    /// Failures of an attempt, and the number of seconds until the next.
    @Test func retryRule() {
        let rule = RetryRule(count: 2, afterAll: false, afterRefusal: false, delay: nil, maximumTime: 100)
        func delay(
            _ rule: RetryRule, _ status: ToolStatus? = nil, code: Int? = nil, after: Double? = nil, attempt: Int = 0,
            elapsed: Double = 0
        ) -> Double? {
            rule.delay(
                after: status.map { ToolFailure($0, "") }, status: code, retryAfter: after, attempt: attempt,
                elapsed: elapsed)
        }
        #expect(delay(rule, .timedOut) == 1 && delay(rule, code: 503, attempt: 1) == 2)
        #expect(delay(rule, code: 503, attempt: 2) == nil && delay(rule, code: 429, after: 7) == 7)
        #expect(delay(rule, code: 429, after: 70, elapsed: 40) == nil && delay(rule, code: 404) == nil)
        #expect(delay(rule, .couldNotConnect) == nil && delay(rule) == nil)
        #expect(delay(rule, .couldNotResolve) == 1 && delay(rule, .couldNotResolveProxy) == 1)
        // What the server or the user says is kept to. The tool's own choice has a limit.
        let patient = RetryRule(count: 99, afterAll: false, afterRefusal: false, delay: 1000, maximumTime: nil)
        #expect(delay(patient, code: 503) == 1000 && delay(patient, code: 503, after: 3600) == 3600)
        #expect(delay(patient, code: 503, after: 1e300) == 21_600)
        let own = RetryRule(count: 99, afterAll: false, afterRefusal: false, delay: nil, maximumTime: nil)
        #expect(delay(own, code: 503, attempt: 9) == 512 && delay(own, code: 503, attempt: 98) == 600)
        let all = RetryRule(count: 1, afterAll: true, afterRefusal: true, delay: 3, maximumTime: nil)
        #expect(delay(all, .couldNotConnect) == 3 && delay(all, .certificate) == 3 && delay(all, code: 200) == nil)
    }
}
