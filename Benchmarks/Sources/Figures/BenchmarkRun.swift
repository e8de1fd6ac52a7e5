import Foundation

/// The run of which the benchmarks of this process are a part.
public enum BenchmarkRun {
    /// Where measures go, one a line; nil when nobody wants them.
    static var results: String? { ProcessInfo.processInfo.environment["LOADINGKIT_BENCH_RESULTS"] }

    /// Ends this process with what went wrong, and where, and so makes the run fail. An error that the framework is given
    /// would be printed, and the run succeed; what is printed here the framework drops, so that it goes to a file too.
    public static func fail(_ place: String, _ error: any Error) -> Never {
        let text = Data("\n\(place): \(error)\n".utf8)
        FileHandle.standardError.write(text)
        if let results { try? append(text, to: results + ".failures") }
        exit(EXIT_FAILURE)
    }

    /// Notes that a benchmark is not run here, and why: a line that `Scripts/bench.sh` shows at the end.
    public static func leaveOut(_ name: String, _ reason: String) {
        if let results { try? append(Data("\(name): \(reason)\n".utf8), to: results + ".not-run") }
    }

    static func append(_ data: Data, to path: String) throws {
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(fileURLWithPath: path)) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: data)
    }
}
