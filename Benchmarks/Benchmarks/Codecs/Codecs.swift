import Benchmark

let benchmarks: @Sendable () -> Void = {
    ParserBenchmarks.register()
}
