import Benchmark
import Figures

let benchmarks: @Sendable () -> Void = {
    do {
        try ParserBenchmarks.register()
        try ChunkedBenchmarks.register()
        try HPACKBenchmarks.register()
        FieldBenchmarks.register()
        WriterBenchmarks.register()
        FrameBenchmarks.register()
        try GzipBenchmarks.register()
    } catch {
        BenchmarkRun.fail("The benchmarks cannot be made", error)
    }
}
