import Foundation
import LoadingKit
import LoadingKitTesting
import SampleScheme
import Testing

/// Loads in every way that a program can: by each kind of task, cancelled, suspended, 1,000 at once.
/// Reports each rule of LoadingKit's contract of handlers that the handler breaks.
@Test(.timeLimit(.minutes(5))) func theHandlerKeepsTheContract() async throws {
    let short = try #require(URL(string: "sample:hello"))
    // More than the 256 KiB that are handed over ahead of the reader.
    let long = try #require(URL(string: "sample:hello?count=60000"))
    let invalid = try #require(URL(string: "sample:hello?count=many"))
    let samples: [ConformanceSample] = [.resource(short), .resource(long), .failure(invalid)]
    let report = await HandlerConformance(of: SampleHandler.self, samples).run()
    #expect(report.findings.isEmpty, "\(report)")
}
