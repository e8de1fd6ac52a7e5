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
            let run = try await Self.simulate("--seeds", "1-1000000", "--seconds", "\(Self.seconds)")
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

    @Test func nothingIsWrongInBackgroundSeeds() async throws {
        try await withTimeout(seconds: 1000) {
            let run = try await Self.simulate("--background", "1-10")
            #expect(run.status == 0, "\(run.text)\(run.errors)")
            #expect(run.text.contains("10 seeds, 0 failed"))
        }
    }

    @Test(arguments: ["--background", "--stores"])
    func theProcessesOfASeedHaveTheSameTraceAgain(option: String) async throws {
        try await withTimeout(seconds: 600) {
            let texts = [
                try await Self.simulate(option, "6", "--trace").text,
                try await Self.simulate(option, "6-7", "--trace").text,
            ]
            let traces = texts.map { $0.split(separator: "\n").filter { $0.contains(": trace ") } }
            #expect(!traces[0].isEmpty)
            #expect(traces[1].starts(with: traces[0]) || texts[0].contains("addresses differ"))
        }
    }

    @Test func nothingIsWrongInSeedsOfStores() async throws {
        try await withTimeout(seconds: 1000) {
            let run = try await Self.simulate("--stores", "1-10")
            #expect(run.status == 0, "\(run.text)\(run.errors)")
            #expect(run.text.contains("10 seeds, 0 failed"))
        }
    }

    /// Seeds that have failed, and why they did. A seed's course belongs to one build, because addresses of objects order
    /// tables: the test that is named shows the defect in every build.
    @Test(arguments: [
        Found(
            "--seeds", 1044, "A POST over HTTP/2 was sent again to a server that had acted upon it.",
            test: "HTTP2PeerTests.aPOSTIsNotSentAgainToAServerThatWasAwake"),
        Found(
            "--background", 30, "A read that failed once made the journal be put aside as damaged, with all transfers.",
            test: "StoreDatabaseTests.failedRead"),
        Found(
            "--background", 167, "Where the boot had no identifier, bytes that were lost with the power were trusted.",
            test: "SchedulingTests.boots"),
        Found(
            "--background", 183, "The copy of an upload's file was gone before the upload's end was in the journal.",
            test: "JournalFailureTests.copyOfAFile"),
        Found(
            "--background", 203, "For want of a descriptor for the journal's key, sessions were left out.",
            test: "TransferDatabaseTests.lackOfDescriptors"),
        Found(
            "--background", 10_004, "A decoded download was its coded part again after a loss of power.",
            test: "DownloadTests.namesAreSynchronized"),
        Found(
            "--stores", 13, "A process that was killed while it made a key left a file with the key.",
            test: "CredentialDatabaseTests.unfinishedKey"),
    ])
    private func whatWasFoundIsMended(_ found: Found) async throws {
        try await withTimeout(seconds: 600) {
            let run = try await Self.simulate(found.option, "\(found.seed)")
            #expect(run.status == 0, "\(found.defect) (\(found.test))\n\(run.text)")
        }
    }

    private struct Found: CustomStringConvertible {
        let option: String
        let seed: Int
        let defect: String
        let test: String

        init(_ option: String, _ seed: Int, _ defect: String, test: String) {
            (self.option, self.seed, self.defect, self.test) = (option, seed, defect, test)
        }

        var description: String { "\(option) \(seed)" }
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
