import Figures

/// What a scenario's contestants gave, over all rounds.
struct Results {
    let scenario: Scenario
    private var runs: [String: [Run]] = [:]

    init(scenario: Scenario) { self.scenario = scenario }

    mutating func add(_ run: Run, of contestant: Contestant) {
        runs[contestant.implementation, default: []].append(run)
    }

    /// One measure for each contestant, of the medians of its runs.
    func record() throws {
        for contestant in scenario.contestants {
            guard let runs = runs[contestant.implementation] else { continue }
            try Measure(
                group: scenario.group, name: scenario.name, implementation: contestant.implementation,
                figures: figures(runs)
            ).record()
        }
    }

    private func figures(_ runs: [Run]) -> [Figure] {
        let throughput =
            scenario.isBulk
            ? Figure("throughput", unit: "MB/s", samples: runs.map { $0.bytes / $0.time })
            : Figure("throughput", unit: "requests/s", samples: runs.map { $0.requests / $0.time * 1e6 })
        return [
            Figure("processor time", unit: "µs a request", samples: runs.map(\.processorTimePerRequest)),
            throughput,
            Figure("latency, median", unit: "µs", samples: runs.compactMap(\.latencyMedian)),
            Figure("latency, 99th", unit: "µs", samples: runs.compactMap(\.latency99th)),
            Figure(
                "nginx's processor time", unit: "µs a request",
                samples: runs.compactMap { run in run.serverTime.map { $0 / run.requests } }),
            Figure("peak memory", unit: "MB", samples: runs.compactMap(\.peakMemory).map { $0 * 1024 / 1e6 }),
            Figure(
                "allocations", unit: "a request",
                samples: runs.compactMap { run in run.allocations.map { $0 / run.requests } }),
        ].compactMap { $0 }
    }
}
