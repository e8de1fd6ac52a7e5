import Benchmark
import Figures
import Foundation

/// The same work, done by each contestant in turn, so that what else the machine does falls on all of them.
struct Scenario: Sendable {
    /// The table of the results: "end to end: http".
    let group: String
    /// "1 KB, 64 at a time".
    let name: String
    let contestants: [Contestant]
    /// Whether bytes a second say more than requests a second.
    var isBulk = false
    /// Whether nginx must tell of resumed handshakes alone, or of full ones alone. Nil: as it comes.
    var isResumed: Bool?

    /// How often each contestant is run.
    var rounds = 5

    func register() {
        let configuration = Benchmark.Configuration(
            metrics: contestants.map(metric), warmupIterations: 0, maxDuration: .seconds(600),
            maxIterations: rounds)
        nonisolated(unsafe) var results = Results(scenario: self)
        nonisolated(unsafe) var server: Nginx?
        Benchmark(title, configuration: configuration) { benchmark in
            for round in benchmark.scaledIterations {
                orFail {
                    guard let server else { return }
                    for (contestant, run) in try runOnce(round, server) {
                        results.add(run, of: contestant)
                        benchmark.measurement(metric(contestant), Int(run.processorTimePerRequest * 1000))
                    }
                }
            }
        } setup: {
            prepareForPrograms()
            orFail { server = try Nginx() }
        } teardown: {
            server?.stop()
            server = nil
            orFail { try results.record() }
        }
    }

    private var title: String { "\(group), \(name)" }

    /// nginx ends with this process, however that ends.
    private func orFail(_ body: () throws -> Void) {
        do { try body() } catch { BenchmarkRun.fail(title, error) }
    }

    /// Each contestant once, beginning with another in every round.
    private func runOnce(_ round: Int, _ server: Nginx) throws -> [(Contestant, Run)] {
        let first = round % contestants.count
        return try (contestants[first...] + contestants[..<first]).map { contestant in
            let before = server.processorTime
            var run = try contestant.run(server)
            if let before, let after = server.processorTime, after > before { run.serverTime = after - before }
            try checkHandshakes(contestant, server)
            return (contestant, run)
        }
    }

    private func checkHandshakes(_ contestant: Contestant, _ server: Nginx) throws {
        guard let isResumed, let share = try server.takeShareOfResumed() else { return }
        // The first connection has nothing to resume.
        guard isResumed ? share > 0.98 : share == 0 else {
            throw Failure("\(contestant.implementation): \(Int(share * 100)) % of the handshakes were resumed")
        }
    }

    private func metric(_ contestant: Contestant) -> BenchmarkMetric {
        .custom("\(contestant.implementation) (ns a request)", useScalingFactor: false)
    }

    /// What programs inherit: room for ten thousand connections, and nothing that measures this process.
    private func prepareForPrograms() {
        unsetenv("LD_PRELOAD")
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
