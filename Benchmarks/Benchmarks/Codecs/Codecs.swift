import Benchmark
import Foundation

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
        // Nothing can be measured then, and a closure of this type cannot throw.
        FileHandle.standardError.write(Data("The benchmarks cannot be made: \(error)\n".utf8))
        exit(1)
    }
}
