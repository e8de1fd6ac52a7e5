import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport
import Testing

/// Handlers and interceptors that break a rule: the checks find which, and say what to do.
@Suite struct BreachTests {
    @Test(arguments: Breach.loads + Breach.handlers + Breach.questions + Breach.ranges + Breach.interceptors)
    func aBreachIsFound(_ breach: Breach) async throws {
        var report = await breach.conformance.run()
        // Where threads decide, a check may find only a consequence, or nothing.
        for _ in 0..<4 where breach.isRace && report.findings.first?.rule != breach.rule {
            report = await breach.conformance.run()
        }
        let found = report.findings.contains { $0.rule == breach.rule && $0.description.contains(breach.words) }
        #expect(found, "\(report)")
        // What else is found are consequences.
        #expect(report.findings.first?.rule == breach.rule, "\(report)")
    }

    /// One defect is one finding, however many loads show it.
    @Test func equalFindingsAreCounted() async throws {
        let breach = try #require(Breach.handlers.first { $0.name == "data after the end" })
        let findings = await breach.conformance.run().findings
        let finding = try #require(findings.first)
        #expect(findings.count == 1 && finding.count > 20, "\(findings)")
        #expect(finding.description.hasSuffix("(found \(finding.count) times)"))
    }
}
