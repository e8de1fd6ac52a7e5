import Benchmark

let benchmarks: @Sendable () -> Void = {
    for scenario in Scenarios.all { scenario.register() }
}
