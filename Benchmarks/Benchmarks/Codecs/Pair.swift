import Benchmark
import Glibc

/// Two ways to do the same, measured in turn, so that what else the machine does falls on both.
struct Pair {
    let name: String
    /// How often each is done in one turn: long enough for the clock, short enough to be in the same moment.
    var count = 100
    let ours: () -> Void
    let peer: () -> Void

    /// Nanoseconds that ours takes, that the peer takes, and ours for each thousand of the peer's.
    static let oursMetric = BenchmarkMetric.custom("LoadingKit (ns)", useScalingFactor: false)
    static let peerMetric = BenchmarkMetric.custom("peer (ns)", useScalingFactor: false)
    static let ratioMetric = BenchmarkMetric.custom("ratio (thousandths)", useScalingFactor: false)

    func register() {
        let configuration = Benchmark.Configuration(
            metrics: [Self.oursMetric, Self.peerMetric, Self.ratioMetric], warmupIterations: 20,
            maxDuration: .seconds(2), maxIterations: 5000)
        nonisolated(unsafe) let pair = self
        Benchmark(name, configuration: configuration) { benchmark in
            for _ in benchmark.scaledIterations {
                let ours = pair.time(pair.ours)
                let peer = pair.time(pair.peer)
                benchmark.measurement(Self.oursMetric, Int(ours / Double(pair.count)))
                benchmark.measurement(Self.peerMetric, Int(peer / Double(pair.count)))
                benchmark.measurement(Self.ratioMetric, Int(ours / peer * 1000))
            }
        }
    }

    private func time(_ work: () -> Void) -> Double {
        let start = Self.now
        for _ in 0..<count { work() }
        return max(1, Self.now - start)
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
