import Foundation
import Testing

@testable import LoadingKitFTP

/// Each input in each state. `FTPStateTable.expected` is written anew with `LOADINGKIT_WRITE_FTP_TABLE=1`; the difference is
/// what a change does.
@Suite struct FTPStateTableTests {
    private struct Way {
        let state: String
        let inputs: [String]
        var operation = FTPTransfer.Operation.retrieve
        var security = FTPClientStateMachine.Security.none
        var makesFolders = false
    }

    private static let login = ["220 hi", "[login]", "331 ?", "230 ok"]
    private static let ready = login + ["500 ?"]
    private static let sized = ready + ["[begin]", "200 ok", "213 10", "213 19700101000001"]
    private static let opening = sized + ["[proceed 5]", "229 (|||7|)"]
    private static let command = opening + ["[opened]", "350 ok"]

    private static let ways: [Way] = [
        Way(state: "greeting", inputs: []),
        Way(state: "auth", inputs: ["220 hi"], security: .explicit),
        Way(state: "securing", inputs: ["220 hi", "234 ok"], security: .explicit),
        Way(state: "bufferSize", inputs: ["220 hi"], security: .implicit),
        Way(state: "protection", inputs: ["220 hi", "200 ok"], security: .implicit),
        Way(state: "anonymous", inputs: ["220 hi"]),
        Way(state: "user", inputs: ["220 hi", "[login]"]),
        Way(state: "password", inputs: ["220 hi", "[login]", "331 ?"]),
        Way(state: "features", inputs: login),
        Way(state: "options", inputs: login + ["211-F\n UTF8\nEnd"]),
        Way(state: "idle", inputs: ready),
        Way(state: "form", inputs: ready + ["[begin]"]),
        Way(state: "home", inputs: ready + ["[begin]", "200 ok"], operation: .list),
        Way(state: "folder", inputs: ready + ["[begin]", "200 ok", "257 \"/h\""], operation: .list),
        Way(
            state: "makingFolder", inputs: ready + ["[begin]", "257 \"/h\"", "550 ?"], operation: .makeDirectory,
            makesFolders: true),
        Way(state: "making", inputs: ready + ["[begin]"], operation: .makeDirectory),
        Way(state: "size", inputs: ready + ["[begin]", "200 ok"]),
        Way(state: "time", inputs: ready + ["[begin]", "200 ok", "213 10"]),
        Way(state: "reported", inputs: sized),
        Way(state: "extendedPassive", inputs: sized + ["[proceed]"]),
        Way(state: "passive", inputs: sized + ["[proceed]", "500 ?"]),
        Way(state: "opening", inputs: opening),
        Way(state: "restart", inputs: opening + ["[opened]"]),
        Way(state: "command", inputs: command),
        Way(state: "transferring", inputs: command + ["150 go"]),
        Way(state: "ending", inputs: command + ["150 go", "[ended]"]),
        Way(
            state: "probing",
            inputs: ready + ["[begin]", "200 ok", "550 ?", "[proceed]", "229 (|||7|)", "[opened]", "550 ?"]),
        Way(state: "closed", inputs: ["421 full"]),
    ]

    private static let inputs = [
        "150 (9 bytes)", "200 ok", "213 10", "227 (1,2,3,4,0,9)", "229 (|||8|)", "257 \"/h\"", "331 ?", "332 ?",
        "350 ?", "421 ?",
        "425 ?", "450 ?", "500 ?", "530 ?", "550 ?", "552 ?", "600 ?", "[tls]", "[login]", "[begin]", "[proceed 5]",
        "[opened]",
        "[not opened]", "[ended]",
    ]

    @Test func everyInputInEveryState() throws {
        var table = ""
        var states: Set<String> = []
        for way in Self.ways {
            for input in Self.inputs {
                var run = MachineRun(way.security)
                let path = try FTPPath(way.operation == .list ? "/a/" : way.makesFolders ? "/a/b" : "/a")
                let transfer = FTPTransfer(way.operation, path, makesFolders: way.makesFolders)
                for step in way.inputs { _ = try run.apply(step, transfer) }
                #expect(run.machine.stateName == way.state)
                states.insert(run.machine.stateName)
                let action = try run.apply(input, transfer)
                table += "\(way.state) | \(input) | \(action) | \(run.machine.stateName)\n"
            }
        }
        // goingHome is in a transfer that follows another one.
        #expect(states.count == 28)
        if ProcessInfo.processInfo.environment["LOADINGKIT_WRITE_FTP_TABLE"] != nil {
            let text =
                "/// state | input | action | next state\nenum FTPStateTable {\n    static let expected = #\"\"\"\n"
                + table.split(separator: "\n").map { "        \($0)\n" }.joined() + "\n        \"\"\"#\n}\n"
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
                "FTPStateTable.swift")
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let (found, expected) = (table.split(separator: "\n"), FTPStateTable.expected.split(separator: "\n"))
        #expect(found.count == expected.count)
        for (found, expected) in zip(found, expected) { #expect(found == expected) }
    }

    /// Whatever comes, in whatever order: an action, or a typed error.
    @Test func randomInputs() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var run = MachineRun([.none, .explicit, .implicit].randomElement(using: &generator) ?? .none)
            let operation: FTPTransfer.Operation =
                [.retrieve, .list, .inspect, .store, .append, .makeDirectory]
                .randomElement(using: &generator) ?? .retrieve
            let transfer = FTPTransfer(
                operation, try FTPPath("/a/b"), stepsThroughFolders: Bool.random(using: &generator),
                makesFolders: Bool.random(using: &generator))
            for _ in 0..<60 {
                do {
                    _ = try run.apply(Self.inputs.randomElement(using: &generator) ?? "", transfer)
                } catch {
                    #expect(error is FTPError)
                }
            }
        }
    }
}

extension FTPClientStateMachine {
    /// The name of the state's step, without its associated values.
    var stateName: String {
        let step: Any =
            switch state {
            case .login(let step): step
            case .folder(let step, _): step
            case .transfer(let step, _): step
            case .idle, .closed: state
            }
        return String(String(describing: step).prefix { $0 != "(" })
    }
}
