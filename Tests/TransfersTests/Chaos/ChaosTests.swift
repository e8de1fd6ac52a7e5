import Foundation
import Glibc
import TestSupport
import Testing

/// Programs and daemons are killed at random moments, while a server does what it likes: nothing is lost, and all of it is told.
/// `LOADINGKIT_CHAOS_ROUNDS` says how often programs are started and killed.
@Suite struct ChaosTests {
    private static let rounds = ProcessInfo.processInfo.environment["LOADINGKIT_CHAOS_ROUNDS"].flatMap { Int($0) } ?? 6

    @Test(arguments: [false, true])
    func nothingIsLost(inProcess: Bool) async throws {
        try await withTimeout(seconds: 100 + Double(Self.rounds) * 20) {
            let outcome = try await onThread { try ChaosRun(seed: 7, inProcess: inProcess).run(rounds: Self.rounds) }
            #expect(outcome.lost.isEmpty)
            #expect(outcome.failed.isEmpty)
            #expect(outcome.wrong.isEmpty)
            #expect(outcome.leftFiles.isEmpty)
            #expect(outcome.leftProcesses == 0)
            // What was on its way when a process was killed is loaded again.
            #expect(outcome.overhead < 1.5)
            if Self.rounds > 6 { print(outcome) }
        }
    }
}

struct ChaosOutcome: Sendable {
    var transfers = 0
    var kills = 0
    var requests = 0
    /// Those that were begun, and of whose end nobody was told.
    var lost: [String] = []
    var failed: [String] = []
    /// Files that have other bytes.
    var wrong: [String] = []
    /// Ends that were told more than once.
    var toldAgain = 0
    /// Bytes that the server has sent, by the bytes that were to be downloaded.
    var overhead = 0.0
    var leftFiles: [String] = []
    var leftProcesses = 0
}

/// One world, from the first program to the last.
private final class ChaosRun {
    private struct Transfer {
        let name: String
        let size: Int
        let isUpload: Bool
    }

    private var generator: SeededGenerator
    private let site: ChaosSite
    private let programs: ChaosPrograms
    private var begun: [String: Transfer] = [:]
    /// Those of which nobody knows whether they have begun.
    private var uncertain: [String: Transfer] = [:]
    private var kills = 0
    private var count = 0

    init(seed: UInt64, inProcess: Bool) throws {
        generator = SeededGenerator(seed: seed)
        site = try ChaosSite(seed: seed)
        programs = try ChaosPrograms(runsInProcess: inProcess)
    }

    func run(rounds: Int) throws -> ChaosOutcome {
        for _ in 0..<rounds { try playRound() }
        try finish()
        return outcome()
    }

    private func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// Begins some transfers, reads some lines, and kills.
    private func playRound() throws {
        let program = try programs.start()
        for _ in 0..<random(0...4) {
            let transfer = try send(to: program)
            // Now and then the program is killed while it begins one.
            if random(0...9) == 0 { break }
            guard read(program, until: { $0 == ["begun", transfer.name] }) else { break }
            begun[transfer.name] = uncertain.removeValue(forKey: transfer.name)
        }
        var lines = random(0...40)
        _ = read(program) { _ in
            lines -= 1
            return lines <= 0 || self.unfinished.isEmpty
        }
        if random(0...2) > 0 { killDaemons() }
        if random(0...1) == 0 {
            // The program lives through the end of its daemon.
            var more = random(0...20)
            _ = read(program) { _ in
                more -= 1
                return more <= 0 || self.unfinished.isEmpty
            }
        }
        kills += 1
        program.kill()
        if random(0...2) == 0 { killDaemons() }
    }

    private var unfinished: [String] { begun.keys.filter { programs.ends[$0] == nil } }

    private func send(to program: ChaosProgram) throws -> Transfer {
        count += 1
        let isUpload = random(0...4) == 0
        let size = isUpload ? random(1...300_000) : random(1...6_000_000)
        let transfer = Transfer(name: "\(isUpload ? "up" : "down")\(count)", size: size, isUpload: isUpload)
        uncertain[transfer.name] = transfer
        if isUpload {
            let file = try programs.folder.write(Array(ChaosSite.content(transfer.name, 0..<size)), to: transfer.name)
            program.send("put \(transfer.name) \(site.url("/put/\(transfer.name)")) \(file.path)")
        } else {
            program.send("get \(transfer.name) \(site.url("/get/\(transfer.name)/\(size)"))")
        }
        return transfer
    }

    /// False where the program has ended before.
    private func read(_ program: ChaosProgram, until isEnough: ([String]) -> Bool) -> Bool {
        if unfinished.isEmpty, isEnough([]) { return true }
        while let line = program.next() { if isEnough(line) { return true } }
        return false
    }

    private func killDaemons() {
        for daemon in programs.daemons { kill(daemon, SIGKILL) }
        kills += 1
    }

    /// The last program is not killed: it is told all that nobody was told yet.
    private func finish() throws {
        let program = try programs.start()
        program.send("finish")
        while program.next() != nil {}
        program.waitForExit()
        for daemon in programs.daemons { kill(daemon, SIGTERM) }
        programs.waitForDaemonsEnd()
    }

    private func outcome() -> ChaosOutcome {
        let ends = programs.ends
        var outcome = ChaosOutcome()
        let known = begun.merging(uncertain.filter { ends[$0.key] != nil }) { one, _ in one }
        outcome.transfers = known.count
        outcome.kills = kills
        outcome.requests = site.requestCount
        outcome.lost = known.keys.filter { ends[$0] == nil }.sorted()
        outcome.failed = ends.filter { $0.value.contains { $0 != 0 } }.map { "\($0) \($1)" }.sorted()
        outcome.toldAgain = ends.values.reduce(0) { $0 + $1.count - 1 }
        for transfer in known.values {
            let isRight =
                transfer.isUpload
                ? site.uploads(of: transfer.name) > 0
                : ChaosSite.isRight(programs.folder.file("got/\(transfer.name)"), transfer.name, size: transfer.size)
            if !isRight { outcome.wrong.append(transfer.name) }
        }
        let wanted = known.values.filter { !$0.isUpload }.reduce(0) { $0 + $1.size }
        outcome.overhead = Double(site.bytesSent) / Double(max(wanted, 1))
        outcome.leftFiles = leftFiles()
        outcome.leftProcesses = programs.processes.count
        return outcome
    }

    /// Parts of downloads that nobody needs any more.
    private func leftFiles() -> [String] {
        let state = programs.folder.file("state").path
        let all = FileManager.default.enumerator(atPath: state)?.compactMap { $0 as? String } ?? []
        return all.filter { path in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(state)/\(path)", isDirectory: &isFolder)
            return !isFolder.boolValue && path.contains("downloads/")
        }
    }
}
