import Foundation
import TestSupport
import Testing

/// Whole sessions in a simulated system (`make simulate` runs many more seeds, and `make faults` all scenarios).
@Suite struct SimulationTests {
    /// How many seconds the seeds have, on the system's clock.
    private static let seconds =
        ProcessInfo.processInfo.environment["LOADINGKIT_SIMULATION_SECONDS"].flatMap { Int($0) } ?? 60

    private static func simulate(_ arguments: String...) async throws -> ProgramRun {
        try await ProgramRun("SimulatedWorld", arguments)
    }

    @Test func nothingIsWrongInAnySeed() async throws {
        try await withTimeout(seconds: 1000) {
            let run = try await Self.simulate("--seconds", "\(Self.seconds)")
            #expect(run.status == 0, "\(run.text)\(run.errors)")
            #expect(run.text.contains(" seeds, 0 failed"))
        }
    }

    /// The trace has each turn of a thread, each transfer, and what the sessions log. The addresses of memory decide the
    /// order of some tables; where the system does not let a process fix them, traces may differ.
    @Test func aSeedGivesTheSameTraceAgain() async throws {
        try await withTimeout(seconds: 600) {
            let runs = [
                try await Self.simulate("--seeds", "5", "--trace"),
                try await Self.simulate("--seeds", "5-6", "--trace"),
            ]
            let hashes = runs.map { run in
                run.text.split(separator: "\n").first { $0.hasPrefix("seed 5: trace ") }.map(String.init)
            }
            #expect(hashes[0] != nil)
            #expect(hashes[0] == hashes[1] || runs[0].text.contains("addresses differ"))
        }
    }

    @Test func theProcessesOfABackgroundSeedHaveTheSameTraceAgain() async throws {
        try await withTimeout(seconds: 600) {
            let texts = [
                try await Self.simulate("--background", "6", "--trace").text,
                try await Self.simulate("--background", "6-7", "--trace").text,
            ]
            let traces = texts.map { $0.split(separator: "\n").filter { $0.contains(": trace ") } }
            #expect(!traces[0].isEmpty)
            #expect(traces[1].starts(with: traces[0]) || texts[0].contains("addresses differ"))
        }
    }

    /// Background seeds that have failed, and why they did.
    @Test(arguments: [
        (30, "A read of the journal that failed once made it be put aside as damaged, with all transfers.")
    ])
    func whatWasFoundInTheBackgroundIsMended(_ found: (seed: Int, defect: String)) async throws {
        try await withTimeout(seconds: 600) {
            let run = try await Self.simulate("--background", "\(found.seed)")
            #expect(run.status == 0, "\(found.defect)\n\(run.text)")
        }
    }

    /// Seeds that have failed, and why they did.
    @Test(arguments: [(1044, "A POST over HTTP/2 was sent again to a server that had acted upon it.")])
    func whatWasFoundIsMended(_ found: (seed: Int, defect: String)) async throws {
        try await withTimeout(seconds: 600) {
            let run = try await Self.simulate("--seeds", "\(found.seed)")
            #expect(run.status == 0, "\(found.defect)\n\(run.text)")
        }
    }

    /// Scenarios in which each call fails once, with each error. Those that have failed are among them: a WebSocket waited
    /// a week after a send that had failed (19), a session never trusted its server again where OpenSSL once lacked memory
    /// (20), and a journal's entry for which it lacked memory ended the process (60).
    @Test(arguments: [0, 8, 19, 20, 56, 60]) func eachCallMayFail(scenario: Int) async throws {
        try await withTimeout(seconds: 1000) {
            let run = try await Self.simulate("--faults", "\(scenario)")
            #expect(run.status == 0, "\(run.text)\(run.errors)")
            #expect(run.text.contains("calls failed"))
        }
    }
}
