import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import MatrixPaths
import TestSupport
import Testing

/// What forbids a modem's network.
enum ModemRule: String, CaseIterable, Sendable {
    /// Nothing.
    case open
    case cellular, expensive, requestCellular, requestExpensive
}

/// Loads by all paths in a network of their own, made once for each rule.
private enum ModemNetwork {
    static let runs: [ModemRule: Task<[String: (connections: String, code: String)], any Error>] =
        Dictionary(uniqueKeysWithValues: ModemRule.allCases.map { rule in (rule, Task { try await run(rule) }) })

    private static func run(_ rule: ModemRule) async throws -> [String: (connections: String, code: String)] {
        try await onThread {
            var pipes: [Int32] = [0, 0]
            guard pipe(&pipes) == 0 else { throw POSIXError(.EMFILE) }
            let reader = FileHandle(fileDescriptor: pipes[0], closeOnDealloc: true)
            let process = try ChildProcess(
                "/usr/bin/unshare",
                Namespaces.ofUser + ["--net", try ProgramRun.executable("MatrixProbe"), rule.rawValue],
                streams: .init(output: pipes[1], errors: 2))
            close(pipes[1])
            let text = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self)
            _ = process.waitForExit()
            let lines = text.split(separator: "\n").map { $0.split(separator: "|").map(String.init) }
            return Dictionary(
                uniqueKeysWithValues: lines.filter { $0.count == 3 }.map { ($0[0], ($0[1], $0[2])) })
        }
    }
}

extension MatrixPath {
    /// Where a rule forbids the only network, nothing is connected; without the rule it is loaded.
    func isRefused(by rule: ModemRule) async throws {
        let open = try #require(try await ModemNetwork.runs[.open]?.value["\(self)"])
        #expect(open.code == "0" && open.connections != "0")
        let seen = try #require(try await ModemNetwork.runs[rule]?.value["\(self)"])
        #expect(seen.connections == "0")
        let expected: URLError.Code = Self.background.contains(self) ? .timedOut : .notConnectedToInternet
        #expect(seen.code == "\(expected.rawValue)")
    }
}
