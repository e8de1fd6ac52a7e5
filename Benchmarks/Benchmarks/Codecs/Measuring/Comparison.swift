import Benchmark
import Figures

/// Several ways to do the same, measured in turn in one process. The first is LoadingKit's.
struct Comparison {
    let subject: Subject
    let name: String
    /// What the times are for, as in "ns a KiB", and how many of it one piece of work has.
    var unit = "ns"
    var amount = 1.0
    let contenders: [Contender]
    /// Throws where the contenders' results differ, in more than the number that their work gives.
    var verify: () throws -> Void = {}

    func register() {
        nonisolated(unsafe) let comparison = self
        nonisolated(unsafe) let turns = Turns(contenders, amount: amount)
        Benchmark(
            title, configuration: configuration,
            closure: { benchmark in
                for _ in benchmark.scaledIterations { comparison.measure(turns, benchmark) }
            },
            setup: { comparison.prepare(turns) },
            teardown: { comparison.record(turns) })
    }

    private var title: String { "\(subject.rawValue): \(name)" }

    private func prepare(_ turns: Turns) {
        orFail {
            try turns.check()
            try verify()
            try turns.calibrate()
        }
    }

    private func orFail(_ body: () throws -> Void) {
        do { try body() } catch { BenchmarkRun.fail(title, error) }
    }

    private var configuration: Benchmark.Configuration {
        Benchmark.Configuration(
            metrics: contenders.indices.map(timeMetric) + contenders.indices.dropFirst().map(ratioMetric),
            warmupIterations: 0, maxDuration: .seconds(2), maxIterations: 5000)
    }

    private func timeMetric(_ index: Int) -> BenchmarkMetric {
        .custom("\(contenders[index].implementation) (\(unit))", useScalingFactor: false)
    }

    /// LoadingKit's time for each thousand of a peer's.
    private func ratioMetric(_ index: Int) -> BenchmarkMetric {
        .custom("thousandths of \(contenders[index].implementation)", useScalingFactor: false)
    }

    private func measure(_ turns: Turns, _ benchmark: Benchmark) {
        orFail {
            let times = try turns.take()
            for (index, time) in times.enumerated() {
                benchmark.measurement(timeMetric(index), Int(time.rounded()))
                if index > 0 { benchmark.measurement(ratioMetric(index), Int((times[0] / time * 1000).rounded())) }
            }
        }
    }

    private func record(_ turns: Turns) {
        orFail {
            for (contender, times) in zip(contenders, turns.times) {
                guard let time = Figure("time", unit: unit, samples: times) else { continue }
                try Measure(
                    group: subject.group, name: name, implementation: contender.implementation,
                    figures: [time] + contender.figures
                ).record()
            }
        }
    }
}
