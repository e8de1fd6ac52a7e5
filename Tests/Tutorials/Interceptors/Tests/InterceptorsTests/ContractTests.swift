import Foundation
import Interceptors
import LoadingKit
import LoadingKitTesting
import Testing

@Test(.timeLimit(.minutes(5))) func theInterceptorsKeepTheContract() async throws {
    func url(_ path: String) throws -> URL { try #require(URL(string: "https://example.com\(path)")) }
    let stubs = StubSet()
    stubs.add(.path("/long.json"), always: .data(Data(repeating: 7, count: 300_000)))
    stubs.add(.path("/old"), always: .redirect(to: "/long.json"))
    stubs.add(.path("/failure"), always: .fault(.timedOut))
    let samples: [ConformanceSample] = [
        .resource(try url("/long.json")), .redirect(try url("/old")), .failure(try url("/failure")),
    ]
    let report = await HandlerConformance(samples) { configuration in
        configuration.interceptors = [
            KeyField("secret", for: "example.com"), JSONType(), ByteCounter(), Retry { _ in },
        ]
        stubs.install(in: configuration)
    }.run()
    #expect(report.findings.isEmpty, "\(report)")
}
