import Foundation
import LoadingKit
import LoadingKitTesting
import MemScheme
import Testing

@Test(.timeLimit(.minutes(5))) func theHandlerKeepsTheContract() async throws {
    func url(_ text: String) throws -> URL { try #require(URL(string: text)) }
    var upload = URLRequest(url: try url("mem:upload"))
    upload.httpMethod = "PUT"
    let samples: [ConformanceSample] = [
        .resource(try url("mem:long")), .ranged(try url("mem:long")), .resource(try url("mem:nothing")),
        .upload(upload), .failure(try url("mem:?"), expecting: MemError.nameMissing(try url("mem:?"))),
    ]
    let long = Data(repeating: 7, count: 300_000)
    let report = await HandlerConformance(samples) { configuration in
        // Each session that the checks make has a store of its own.
        let store = MemStore()
        _ = try? store.write(long, to: "long", type: "application/octet-stream")
        configuration.addMem(store)
    }.run()
    #expect(report.findings.isEmpty, "\(report)")
}
