import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitSystemProxies

/// Scripts that libproxy runs in a separate process.
@Suite(.usesPeers) struct ScriptTests {
    private static func script(_ body: String) -> String { "function FindProxyForURL(url, host) { \(body) }" }

    @Test func aScriptNamesWaysInItsOrder() async throws {
        let script = Self.script(#"return "PROXY a.example:3128; SOCKS5 [::1]:9; HTTPS t.example; DIRECT";"#)
        #expect(
            try await Libproxy.run(script) == [
                ProxyChoice(.http, host: "a.example", port: 3128), ProxyChoice(.socks5, host: "::1", port: 9),
                ProxyChoice(.https, host: "t.example", port: 443), .direct,
            ])
    }

    /// The URL in a browser's form, without the path.
    @Test(arguments: [
        ("http://h.example:80", "http://h.example/|h.example"),
        ("https://h.example:443", "https://h.example/|h.example"),
        ("https://h.example:8443", "https://h.example:8443/|h.example"),
        ("ftp://h.example:21", "ftp://h.example/|h.example"),
        ("ftp://h.example:80", "ftp://h.example:80/|h.example"),
    ]) func aScriptIsGivenTheServer(_ url: String, _ expected: String) async throws {
        let script = Self.script("throw url + '|' + host;")
        _ = try Libproxy.options()
        await #expect(throws: SystemProxyError.scriptFailed(expected)) { try await Libproxy.run(script, url) }
    }

    /// The functions that every script may use.
    @Test func theUsualFunctionsAreThere() async throws {
        let script = Self.script(
            """
            if (!isPlainHostName("h") || isPlainHostName(host) || !dnsDomainIs(host, ".example")
                || !localHostOrDomainIs("h.example", "h.example") || dnsDomainLevels(host) != 1 || !shExpMatch(host, "*.ex?mple")
                || !isInNet("10.1.2.3", "10.0.0.0", "255.0.0.0") || typeof weekdayRange("MON", "SUN") != "boolean"
                || typeof dateRange(1) != "boolean" || typeof timeRange(1) != "boolean" || !myIpAddress())
                return "DIRECT";
            return "PROXY all:1";
            """)
        #expect(try await Libproxy.run(script) == [ProxyChoice(.http, host: "all", port: 1)])
    }

    @Test(arguments: [
        "var FindProxyForURL = function (url, host) { return 'DIRECT' }", "const FindProxyForURL = () => 'DIRECT'",
        "let FindProxyForURL = () => 'DIRECT' // the end", "\u{FEFF}function FindProxyForURL() { return 'DIRECT' }",
        "function FindProxyForURL() { return '' }", "function FindProxyForURL() { return 'DIRECT\u{2028}'; }",
    ]) func scriptsAreWrittenInManyWays(_ script: String) async throws {
        #expect(try await Libproxy.run(script) == [.direct])
    }

    /// libproxy itself returns `direct://` for all of these.
    @Test(arguments: [
        ("throw new Error('no idea');", "Error: no idea"), ("throw 'é';", "?"),
        ("undefinedFunction();", "undefinedFunction"),
        ("return nothing.there;", "nothing"), ("syntax error here(", "SyntaxError"),
        ("function f() { f() }; f();", "RangeError"),
        ("return '\\uD800';", "URIError"),
    ]) func aScriptThatFailsIsAnError(_ body: String, _ text: String) async throws {
        do {
            _ = try await Libproxy.run(Self.script(body))
            Issue.record("\(body) gave an answer")
        } catch SystemProxyError.scriptFailed(let error) {
            #expect(error.contains(text))
        }
    }

    @Test(arguments: ["", "1 +", "var x = 1;", "throw 1; function FindProxyForURL() { return 'DIRECT' }"])
    func aTextThatIsNoScriptIsAnError(_ script: String) async throws {
        _ = try Libproxy.options()
        await #expect(throws: SystemProxyError.self) { try await Libproxy.run(script) }
    }

    @Test(arguments: ["return null;", "return 7;", "return {};", "return 'PROXY';", "return 'QUIC q:1';"])
    func anAnswerThatNamesNoWayIsAnError(_ body: String) async throws {
        _ = try Libproxy.options()
        await #expect(throws: SystemProxyError.self) { try await Libproxy.run(Self.script(body)) }
    }

    @Test func aLongAnswerAndALongScript() async throws {
        let long = Self.script("return new Array(100000).join('PROXY p:1;') + 'DIRECT';")
        #expect(Set(try await Libproxy.run(long).dropLast()) == [ProxyChoice(.http, host: "p", port: 1)])
        let filler = "// " + String(repeating: "é", count: 500_000) + "\n"
        #expect(try await Libproxy.run(filler + Self.script("return 'DIRECT';")) == [.direct])
        let tooLong = String(repeating: filler, count: 3)
        await #expect(throws: SystemProxyError.scriptTooLong(maximum: 2 * 1024 * 1024)) {
            try await Libproxy.run(tooLong)
        }
    }

    /// It is ended when its time is over, and when its load is cancelled.
    @Test func aScriptThatNeverEndsIsEnded() async throws {
        var options = try Libproxy.options()
        options.timeLimit = 0.3
        let proxies = SystemProxies(options)
        for body in ["while (true) {}", "var a = []; while (true) a.push(a.slice());"] {
            let query = try Libproxy.query("http://h.example:80", .javaScript(Self.script(body)))
            await #expect(throws: SystemProxyError.self) { try await proxies.proxies(for: query) }
        }
        let slow = SystemProxies(try Libproxy.options())
        let endless = try Libproxy.query("http://h.example:80", .javaScript(Self.script("while (true) {}")))
        let task = Task { try await slow.proxies(for: endless) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await withTimeout("processes") { while try Processes.children("/usr/bin/proxy") > 0 {} }
    }

    /// In another network another server offers it, unlike a script whose URL the user or the program has set.
    @Test func theNetworksScriptIsNotKept() async throws {
        let server = try LoopbackServer { _ in .text("script") }
        defer { server.stop() }
        var options = SystemProxies.Options()
        options.timeLimit = 300
        let loader = ScriptLoader(options, isOfSystem: true)
        let url = try #require(URL(string: server.url("/wpad.dat")))
        for (keeps, requests) in [(false, 1), (false, 2), (true, 3), (true, 3), (false, 4)] {
            let script = keeps ? try await loader.load(url) : try await loader.loadUncached(url)
            #expect(script == "script")
            #expect(server.requests.count == requests)
        }
    }

    @Test func withoutWhatRunsScriptsThereIsAnError() async throws {
        let folder = try TemporaryFolder()
        let options = try Libproxy.options(["PX_MODULE_PATH": folder.path])
        let query = try Libproxy.query("http://h.example:80", .javaScript(Self.script("return 'DIRECT';")))
        await #expect(throws: SystemProxyError.noScriptRunner) { try await SystemProxies(options).proxies(for: query) }
        var none = options
        none.commandPaths = [folder.file("proxy").path]
        await #expect(throws: SystemProxyError.commandNotFound(none.commandPaths)) {
            try await SystemProxies(none).proxies(for: query)
        }
        #expect(SystemProxyError.commandNotFound([]).description.contains("apt-get install -y libproxy-tools"))
    }

    /// libproxy occasionally ends by a signal or with a status.
    @Test(arguments: ["kill -SEGV $$", "exit 1"])
    func aCommandThatEndsWithoutAWordIsRunAgain(_ end: String) async throws {
        let folder = try TemporaryFolder()
        try folder.writeProgram(
            """
            #!/bin/sh
            echo x >> \(folder.path)/count
            [ $(wc -l < \(folder.path)/count) -lt 3 ] && \(end)
            echo http://loadingkit\(Self.coded("=DIRECT")):1

            """, to: "proxy")
        var options = try Libproxy.options()
        options.commandPaths = [folder.file("proxy").path]
        let query = try Libproxy.query("http://h.example:80", .javaScript(Self.script("return 'DIRECT';")))
        #expect(try await SystemProxies(options).proxies(for: query) == [.direct])
    }

    /// A script's result in the form in which the script program returns it.
    private static func coded(_ answer: String) -> String {
        answer.utf8.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }

    /// A command that is not libproxy's, or that crashes, is an error.
    @Test(arguments: [
        "exit 0", "kill -SEGV $$", "yes", "echo direct://", "echo http://loadingkit7:1", "exec sleep 1000 >&-",
    ])
    func aCommandThatMisbehavesIsAnError(_ command: String) async throws {
        let folder = try TemporaryFolder()
        try folder.writeProgram("#!/bin/sh\n\(command)\n", to: "proxy")
        var options = try Libproxy.options()
        options.commandPaths = [folder.file("proxy").path]
        let proxies = SystemProxies(options)
        let query = try Libproxy.query("http://h.example:80", .javaScript(Self.script("return 'DIRECT';")))
        try await withTimeout {
            await #expect(throws: SystemProxyError.self) { try await proxies.proxies(for: query) }
        }
    }
}

enum Processes {
    /// The number of processes of a program that this process has started.
    static func children(_ path: String) throws -> Int {
        let own = "\(getpid())"
        return try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.count { process in
            guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                let command = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/cmdline"))
            else { return false }
            let fields = status.split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && fields[1] == own
                && command.split(separator: 0).contains { String(decoding: $0, as: UTF8.self) == path }
        }
    }
}
