import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A background session's transfers go by the proxies of the program's environment, whatever makes them.
@Suite(.timeLimit(.minutes(5))) struct BackgroundProxyTests {
    /// The name exists for the proxy alone: a transfer that went past it would fail, and would have asked for the name.
    @Test(arguments: [false, true], RelayProxy.Kind.allCases.filter { $0 != .https })
    func theProgramsProxyIsTheOnlyWay(runsInProcess: Bool, _ kind: RelayProxy.Kind) async throws {
        let server = try LoopbackServer { _ in .text("by the proxy") }
        defer { server.stop() }
        let proxy = try RelayProxy(kind)
        defer { proxy.stop() }
        let programs = try ChaosPrograms(runsInProcess: runsInProcess, variables: ["all_proxy": proxy.url])
        let port = try #require(server.address.port)
        try await onThread {
            let program = try programs.start()
            program.send("get a http://server:\(port)/")
            #expect(program.next(with: "end") == ["end", "a", "0"])
        }
        let text = try String(contentsOf: programs.folder.file("got/a"), encoding: .utf8)
        #expect(text == (kind.speaksHTTP ? "forwarded" : "by the proxy"))
        #expect(proxy.destinations == [kind.speaksHTTP ? "http://server:\(port)/" : "server:\(port)"])
        #expect(server.requests.snapshot.count == (kind.speaksHTTP ? 0 : 1))
    }

    private struct DaemonHasEnded: Error {}

    /// The daemon serves other programs, too. What it was started with is not for them.
    @Test func theDaemonsOwnVariablesAreNotUsed() async throws {
        let server = try LoopbackServer { _ in .text("directly") }
        defer { server.stop() }
        let proxy = try RelayProxy(.socks5)
        defer { proxy.stop() }
        let programs = try ChaosPrograms()
        let daemon = try ChildProcess(
            try ProgramRun.executable("loadkitd"), [],
            environment: programs.environment.merging(["all_proxy": proxy.url]) { $1 },
            streams: .init(output: 2, errors: 2))
        defer {
            daemon.kill()
            daemon.waitForExit()
        }
        try await onThread {
            while !FileManager.default.fileExists(atPath: programs.folder.file("run/loadkit/daemon.socket").path) {
                guard !daemon.hasExited else { throw DaemonHasEnded() }
                usleep(1000)
            }
            let program = try programs.start()
            program.send("get a \(server.url("/"))")
            #expect(program.next(with: "end") == ["end", "a", "0"])
        }
        #expect(proxy.destinations == [])
    }
}
