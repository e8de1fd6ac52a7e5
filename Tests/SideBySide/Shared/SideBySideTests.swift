import TestSupport
import Testing

/// The same sources are compiled against FoundationNetworking and against LoadingKit, and both must show what is expected,
/// but for what `Difference.all` lists.
@Suite struct SideBySideTests {
    @Test(arguments: Behaviour.all) func isAsExpected(_ behaviour: Behaviour) async throws {
        let difference = implementation == .foundationNetworking ? Difference.all[behaviour.name] : nil
        if let difference, !difference.canRun { return }
        let observed = try await withTimeout(behaviour.name) {
            let site = try Site()
            defer { site.stop() }
            return try await behaviour.observe(site)
        }
        // A later toolchain may have mended what is listed.
        let isKnown = observed == behaviour.expected || observed == difference?.theirs
        #expect(isKnown, "\(behaviour.name)\n  expected: \(behaviour.expected)\n  observed: \(observed)")
    }

    @Test func namesAreUniqueAndDifferencesAreOfBehaviours() {
        let names = Set(Behaviour.all.map { $0.name })
        #expect(names.count == Behaviour.all.count && names.count >= 100)
        #expect(names.isSuperset(of: Difference.all.keys))
        for (name, difference) in Difference.all { #expect(!difference.reason.isEmpty, "\(name)") }
    }
}
