import LoadingKitTesting
import Testing

/// Handlers and interceptors of many kinds that keep the contract: the checks find nothing.
@Suite struct RightTests {
    @Test(arguments: RightLoad.handlers + RightLoad.interceptors)
    func nothingIsFound(_ load: RightLoad) async throws {
        let report = await load.conformance.run()
        #expect(report.findings.isEmpty, "\(report)")
    }
}
