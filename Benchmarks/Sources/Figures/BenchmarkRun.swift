import Foundation

/// The run of which the benchmarks of this process are a part.
public enum BenchmarkRun {
    /// Ends this process with what went wrong, and where, and so makes the run fail. An error that the framework is given
    /// would be printed, and the run succeed.
    public static func fail(_ place: String, _ error: any Error) -> Never {
        FileHandle.standardError.write(Data("\n\(place): \(error)\n".utf8))
        exit(EXIT_FAILURE)
    }
}
