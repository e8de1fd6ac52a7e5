import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import loadkit

/// Each of curl's options, in a process that loads from a server.
@Suite(.timeLimit(.minutes(5))) struct CurlOptionTests {
    /// Arguments (URLs begin with `/`), and the result.
    struct Case: Sendable {
        var arguments: [String]
        var input = ""
        var environment: [String: String] = [:]
        var status: Int32 = 0
        /// The whole output; nil for any.
        var output: String?
        /// Parts of the output, and such that it must not have.
        var parts: [String] = []
        var absent: [String] = []
        /// A part of standard error; nil for none.
        var errors: String?
    }

    /// An archive with `in.txt`.
    private static let archive =
        "UEsDBBQAAAAAAAAAIVBnG3lsBwAAAAcAAAAGAAAAaW4udHh0bWVtYmVyClBLAQIUAxQAAAAAAAAAIVBnG3lsBwAAAAcAAAAGAAAAAAAAAAAAAACAAQAAAABpbi50eHRQSwUGAAAAAAEAAQA0AAAAKwAAAAAA"

    static let cases: [Case] = [
        // The body.
        Case(arguments: ["-d", "a=1", "--data-raw", "@b", "/echo"], parts: ["POST /echo\n", "\n\na=1&@b\n"]),
        Case(arguments: ["--data-binary", "@-", "/echo"], input: "one\ntwo\n", parts: ["\n\none\ntwo\n"]),
        Case(arguments: ["--data-urlencode", "a=b c", "/echo"], parts: ["\n\na=b%20c\n"]),
        Case(
            arguments: ["--json", "{\"a\":1}", "/echo"],
            parts: [
                "POST /echo\n", "\nContent-Type: application/json\n", "\nAccept: application/json\n", "\n\n{\"a\":1}\n",
            ]),
        Case(arguments: ["-Gd", "a=1", "/echo?z"], parts: ["GET /echo?z&a=1\n"], absent: ["Content-Type"]),
        Case(arguments: ["--url-query", "a=1 2", "/echo"], parts: ["GET /echo?a=1%202\n"]),
        Case(
            arguments: ["-F", "a=1;type=text/x", "-F", "b=<-", "--form-string", "c=@d;e", "/echo"], input: "typed",
            parts: [
                "POST /echo\n", "Content-Type: multipart/form-data; boundary=",
                "name=\"a\"\r\nContent-Type: text/x\r\n\r\n1\r\n",
                "name=\"b\"\r\n\r\ntyped\r\n", "name=\"c\"\r\n\r\n@d;e\r\n",
            ]),
        Case(
            arguments: ["-F", "j={\"x\": \"y\"}", "-F", "f=@-;filename=\"n;1\"", "/echo"], input: "typed",
            parts: ["\r\n\r\n{\"x\": \"y\"}\r\n", "filename=\"n;1\"\r\n", "\r\n\r\ntyped\r\n"]),
        Case(arguments: ["-T", "-", "/echo"], input: "typed", parts: ["PUT /echo\n", "\n\ntyped\n"]),
        // The request.
        Case(arguments: ["-H", "@-", "/echo"], input: "X-One: 1\nX-Two: 2\n", parts: ["\nX-One: 1\nX-Two: 2\n"]),
        Case(arguments: ["-H", "X-A: 1", "-H", "x-a: 2", "/echo"], parts: ["\nX-A: 1\nx-a: 2\n"]),
        Case(arguments: ["-e", "http://from/", "/echo"], parts: ["\nReferer: http://from/\n"]),
        Case(arguments: ["-A", "me/1", "/echo"], parts: ["\nUser-Agent: me/1\n"]),
        Case(
            arguments: [
                "-A", "", "-H", "Accept:", "-H", "accept-encoding:", "-H", "Content-Type:", "-d", "x", "/echo",
            ],
            parts: ["POST /echo\n"], absent: ["User-Agent", "Accept", "Content-Type"]),
        Case(arguments: ["zip:file://FOLDER/a.zip!/in.txt"], output: "member\n"),
        Case(arguments: ["-r", "4-", "/digits"], output: "456789"),
        Case(arguments: ["--oauth2-bearer", "t", "/echo"], parts: ["\nAuthorization: Bearer t\n"]),
        Case(arguments: ["-X", "PURGE", "--url", "/echo"], parts: ["PURGE /echo\n"]),
        // Login.
        Case(arguments: ["-u", "a:b", "/basic"], output: "Basic accepted\n"),
        Case(arguments: ["-u", "a:b", "/digest"], output: "Digest accepted\n"),
        Case(arguments: ["-u", "a:b", "/both"], output: "Digest accepted\n"),
        Case(arguments: ["--anyauth", "-u", "a:b", "/both"], output: "Digest accepted\n"),
        Case(arguments: ["--digest", "-u", "a:b", "/digest"], output: "Digest accepted\n"),
        Case(arguments: ["--digest", "-u", "a:b", "/basic"], output: "nothing refused\n"),
        Case(arguments: ["--ntlm", "-u", "a:b", "/both"], output: "nothing refused\n"),
        Case(arguments: ["--basic", "-u", "a:b", "/digest"], output: "Basic refused\n"),
        Case(arguments: ["--basic", "-u", "a:b", "/echo"], parts: ["\nAuthorization: Basic YTpi\n"]),
        Case(arguments: ["--basic", "--digest", "-u", "a:b", "/echo"], absent: ["Authorization"]),
        Case(arguments: ["-u", "a:b", "/echo"], absent: ["Authorization"]),
        Case(arguments: ["--netrc-file", "netrc", "/digest"], output: "Digest accepted\n"),
        Case(arguments: ["http://a:b@127.0.0.1:PORT/both"], output: "Digest accepted\n"),
        Case(arguments: ["--digest", "http://a:b@127.0.0.1:PORT/basic"], output: "nothing refused\n"),
        Case(arguments: ["--basic", "http://a:b@127.0.0.1:PORT/echo"], parts: ["\nAuthorization: Basic YTpi\n"]),
        // The password of a URL is for this URL.
        Case(
            arguments: ["http://a:b@127.0.0.1:PORT/digest", "http://127.0.0.1:PORT/digest"],
            output: "Digest accepted\nnothing refused\n"),
        Case(arguments: ["-f", "/basic"], status: 22, output: "", errors: "401"),
        // Cookies.
        Case(arguments: ["-b", "a=1; b=2", "/echo"], parts: ["\nCookie: a=1; b=2\n"]),
        // Names that a server without TLS could not set are sent as they are given.
        Case(
            arguments: ["-b", "__Host-sid=1; a=2; __Secure-x=3;", "/echo"],
            parts: ["\nCookie: a=2; __Host-sid=1; __Secure-x=3\n"]),
        Case(arguments: ["-b", "jar", "/echo"], parts: ["\nCookie: kept=yes; short=x\n"]),
        Case(arguments: ["-b", "jar", "--junk-session-cookies", "/echo"], parts: ["\nCookie: kept=yes\n"]),
        Case(arguments: ["-b", "mine=1", "/old"], parts: ["\nCookie: ", "mine=1", "old=1"]),
        Case(
            arguments: ["-c", "-", "/set"], parts: ["set\n# Netscape", "\tFALSE\t/\tFALSE\t0\tone\t1\n", "\ttwo\t2\n"]),
        // Results.
        Case(arguments: ["--fail-with-body", "/404"], status: 22, output: "nothing here\n", errors: "(22)"),
        Case(
            arguments: ["-w", "%{http_code} %{size_download} %{content_type} %{exitcode}%%\\n", "/digits"],
            output: "0123456789200 10 text/plain; charset=utf-8 0%\n"),
        // Before decoding, and without the chunks' framing.
        Case(
            arguments: ["-w", "%{size_download}", "-o", "/dev/null", "/packed"], output: "\(CurlServer.packed.count)"),
        Case(
            arguments: [
                "-w", "%{num_redirects} %{method} %{http_version} %{scheme} %header{content-length}", "-o", "/dev/null",
                "/older",
            ],
            parts: ["2 GET 1.1 http "]),
        Case(arguments: ["-w", "%{redirect_url}", "--no-follow", "/old"], parts: ["http://127.0.0.1:", "/echo"]),
        Case(
            arguments: ["-w", "%{redirect_url}|", "--no-follow", "/split"],
            parts: ["http://127.0.0.1:", "/a%2Fb%20c|"]),
        Case(arguments: ["-sw", "%{stderr}%{exitcode}\\n", "-f", "/404"], status: 22, output: "", errors: "22\n"),
        Case(
            arguments: ["-w", "%{json}", "-o", "/dev/null", "/digits"],
            parts: ["\"http_code\":\"200\"", "\"time_total\":"]),
        Case(arguments: ["-w", "%{header_json}", "-o", "/dev/null", "/repeated"], parts: ["\"x-b\":[\"1\",\"3\"]"]),
        Case(arguments: ["-D", "-", "/digits"], parts: ["HTTP/1.1 200 OK\r\n", "\r\n\r\n0123456789"]),
        Case(arguments: ["-i", "/repeated"], parts: ["\r\nX-B: 1\r\nx-a: 2\r\nX-B: 3\r\n"]),
        Case(
            arguments: ["-i", "-u", "a:b", "/digest"], parts: ["HTTP/1.1 401 Unauthorized\r\n", "HTTP/1.1 200 OK\r\n"]),
        Case(
            arguments: ["--trace-ascii", "-", "/digits"],
            parts: [
                "=> Send header, ", "0000: GET /digits HTTP/1.1\n", "<= Recv data, 10 bytes (0xa)\n0000: 0123456789\n",
            ]),
        // Limits and repetitions.
        Case(arguments: ["--max-redirs", "1", "/older"], status: 47, output: "", errors: "(47)"),
        Case(
            arguments: [
                "-s", "--max-redirs", "1", "-w",
                "%{num_redirects} %{http_code} %header{location} %{url_effective} %{redirect_url}|", "/older",
            ],
            status: 47, parts: ["1 302 /echo http://127.0.0.1:", "/old http://127.0.0.1:", "/echo|"]),
        Case(arguments: ["--max-redirs", "2", "/older"], parts: ["GET /echo\n"]),
        Case(arguments: ["--max-filesize", "9", "/digits"], status: 63, output: "", errors: "(63)"),
        Case(arguments: ["--limit-rate", "1M", "/digits"], output: CurlServer.digits),
        Case(arguments: ["--retry", "1", "/flaky"], output: "ready\n", errors: "again in"),
        Case(arguments: ["-s", "--retry", "1", "/flaky"], output: "ready\n"),
        Case(arguments: ["--retry", "1", "-f", "/404"], status: 22, output: "", errors: "(22)"),
        Case(
            arguments: [
                "-s", "--retry", "2", "--retry-all-errors", "--retry-delay", "0.01", "-w", "%{num_retries}", "-f",
                "/404",
            ],
            status: 22, output: "2"),
        Case(
            arguments: [
                "-s", "--retry", "1", "--retry-connrefused", "--retry-delay", "0.01", "-w", "%{num_retries}",
                "http://127.0.0.1:1/",
            ],
            status: 7, output: "1"),
        // Standard input was not read: it can be sent later.
        Case(
            arguments: [
                "-s", "--retry", "1", "--retry-connrefused", "--retry-delay", "0.01", "-w", "%{num_retries}", "-T", "-",
                "http://127.0.0.1:1/",
            ],
            input: "typed", status: 7, output: "1"),
        Case(
            arguments: ["-T", "-", "--retry", "1", "--retry-all-errors", "--retry-delay", "0.01", "/busy"],
            input: "typed", status: 65, output: "", errors: "503 Service Unavailable; standard input was already sent"),
        Case(
            arguments: ["--retry", "9", "--retry-max-time", "0.5", "--retry-delay", "5", "/busy"],
            output: "busy\n"),
        Case(arguments: ["--connect-timeout", "30", "/digits"], output: CurlServer.digits),
        Case(arguments: ["--max-time", "0.2", "/silent"], status: 28, output: "", errors: "(28)"),
        // The rate is not reached before ten seconds have passed.
        Case(arguments: ["-m", "0.5", "--limit-rate", "1", "/digits"], status: 28, errors: "(28)"),
        // Several URLs.
        Case(arguments: ["-Z", "--parallel-max", "2", "/{digits,set}"], output: "0123456789set\n"),
        Case(arguments: ["/digits", "--next", "-d", "x", "/echo"], parts: ["0123456789POST /echo\n"]),
        // A URL that looks like a request for help is a URL.
        Case(
            arguments: ["/echo?my-help", "--next", "-d", "x", "/echo"],
            parts: ["GET /echo?my-help\n", "POST /echo\n"]),
        Case(arguments: ["-g", "/echo?{a}"], parts: ["GET /echo?%7Ba%7D\n"]),
        Case(
            arguments: ["-K", "-", "/echo"], input: "# options\nheader = \"X-K: v\"\n-A me/2\n",
            parts: ["\nX-K: v\n", "User-Agent: me/2\n"]),
        // Connections.
        Case(
            arguments: ["--resolve", "name.example:*:127.0.0.1", "//name.example/echo"],
            parts: ["\nHost: name.example:"]),
        Case(
            arguments: ["--connect-to", "name.example:1:127.0.0.1:PORT", "http://name.example:1/echo"],
            parts: ["\nHost: name.example:1\n"]),
        Case(
            arguments: [
                "--resolve", "other.example:PORT:127.0.0.1", "--connect-to", "name.example:1:other.example:PORT",
                "http://name.example:1/echo",
            ],
            parts: ["\nHost: name.example:1\n"]),
        Case(arguments: ["-4", "//localhost/echo"], parts: ["\nHost: localhost:"]),
        Case(arguments: ["-6", "//localhost/echo"], status: 7, output: "", errors: "(7)"),
        Case(
            arguments: ["--http1.1", "-q", "-N", "-#", "--compressed", "--tcp-nodelay", "--http2", "/digits"],
            output: CurlServer.digits),
        Case(
            arguments: ["-x", "127.0.0.1:PORT", "http://name.example/echo"], parts: ["GET http://name.example/echo\n"]),
        Case(
            arguments: ["-x", "http://127.0.0.1:PORT", "-U", "a:b c", "http://name.example/echo"],
            parts: ["\nProxy-Authorization: Basic YTpiIGM=\n"]),
        Case(
            arguments: ["-U", "a:b c", "http://name.example/echo"], environment: ["http_proxy": "127.0.0.1:PORT"],
            parts: ["\nProxy-Authorization: Basic YTpiIGM=\n"]),
        Case(arguments: ["-x", "127.0.0.1:1", "--noproxy", "127.0.0.1", "/digits"], output: CurlServer.digits),
        Case(arguments: ["-x", "127.0.0.1:1", "/digits"], status: 7, output: "", errors: "(7)"),
    ]

    @Test(arguments: cases) func run(_ expected: Case) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let port = "\(server.address.port ?? 0)"
        let folder = try TemporaryFolder()
        try folder.write("default login a password b\n", to: "netrc")
        try folder.write(
            "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tkept\tyes\n127.0.0.1\tFALSE\t/\tFALSE\t0\tshort\tx\nother\tFALSE\t/\tFALSE\t0\tno\tx\n",
            to: "jar")
        try folder.write(Data(base64Encoded: Self.archive) ?? Data(), to: "a.zip")
        let arguments = expected.arguments.map { argument in
            if argument.hasPrefix("//") {
                let parts = argument.dropFirst(2).split(separator: "/", maxSplits: 1)
                return "http://\(parts[0]):\(port)/\(parts[1])"
            }
            return argument.hasPrefix("/") && argument != "/dev/null"
                ? server.url(argument)
                : argument.replacingOccurrences(of: "PORT", with: port).replacingOccurrences(
                    of: "FOLDER", with: folder.path)
        }
        let environment = expected.environment.mapValues { $0.replacingOccurrences(of: "PORT", with: port) }
        let run = try await ToolRun(arguments, input: expected.input, folder: folder, environment: environment)
        #expect(run.status == expected.status, "\(run.errors)")
        if let output = expected.output { #expect(run.text == output) }
        for part in expected.parts { #expect(run.text.contains(part), "\(part): \(run.text)") }
        for part in expected.absent { #expect(!run.text.contains(part), "\(part): \(run.text)") }
        if let errors = expected.errors { #expect(run.errors.contains(errors)) } else { #expect(run.errors.isEmpty) }
    }

    /// What a pipe has, as that of `<(…)` in a shell, or a file of the system, whose size is 0.
    @Test(
        arguments: [
            (["-d", "@/dev/stdin", "/echo"], "typed\n", "\n\ntyped\n"),
            (["-d", "@/proc/sys/kernel/ostype", "/echo"], "", "\n\nLinux\n"),
            (["-F", "a=</dev/stdin", "/echo"], "typed", "\r\n\r\ntyped\r\n"),
            (
                ["-F", "a=@/dev/stdin", "/echo"], "typed",
                "filename=\"stdin\"\r\nContent-Type: application/octet-stream\r\n\r\ntyped\r\n"
            ),
            (["-T", "/dev/stdin", "/echo"], "typed", "\n\ntyped\n"),
            (["-K", "/dev/stdin", "/echo"], "header = \"X-K: v\"\n", "\nX-K: v\n"),
            (["-H", "@/dev/stdin", "/echo"], "X-H: v\n", "\nX-H: v\n"),
            (["-b", "/dev/stdin", "/echo"], "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb\n", "\nCookie: a=b\n"),
            (["--netrc-file", "/dev/stdin", "/digest"], "default login a password b\n", "Digest accepted\n"),
        ] as [([String], String, String)])
    func filesWithoutASize(_ arguments: [String], _ content: String, _ part: String) async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(content.utf8))
        try pipe.fileHandleForWriting.close()
        let run = try await ToolRun(
            Array(arguments.dropLast()) + [server.url(arguments.last ?? "")], standardInput: pipe.fileHandleForReading)
        #expect(run.status == 0 && run.text.contains(part), "\(run.text) \(run.errors)")
    }

    @Test func hostsOfAPipe() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("one.example unlimited\n".utf8))
        try pipe.fileHandleForWriting.close()
        let hosts = HSTSFile("/proc/self/fd/\(pipe.fileHandleForReading.fileDescriptor)")
        #expect(hosts.load().keys.sorted() == ["one.example"])
        withExtendedLifetime(pipe) {}
    }
}
