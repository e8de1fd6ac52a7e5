import Foundation

/// What one implementation was measured at in one benchmark: a row of the results.
public struct Measure: Codable, Sendable {
    /// The table of the results that this belongs to: "HTTP/1.1 response heads".
    public let group: String
    /// What was measured: "240 B, nginx".
    public let name: String
    /// Who was measured: "LoadingKit", or a peer's name.
    public let implementation: String
    /// The first is the one that implementations are compared by.
    public let figures: [Figure]

    public init(group: String, name: String, implementation: String, figures: [Figure]) {
        self.group = group
        self.name = name
        self.implementation = implementation
        self.figures = figures
    }

    /// Adds this to the results of the run, where there is one: a file that `LOADINGKIT_BENCH_RESULTS` names, with one
    /// measure a line.
    public func record() throws {
        guard let path = BenchmarkRun.results else { return }
        try BenchmarkRun.append(try JSONEncoder().encode(self) + Data("\n".utf8), to: path)
    }
}
