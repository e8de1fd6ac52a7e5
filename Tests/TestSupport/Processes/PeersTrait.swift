import Foundation
public import Testing

/// Tests that talk to programs of other projects. Without a program (`MissingProgram`) such a test counts as not run, and
/// `make test` ends with the package that has it. Where `LOADINGKIT_ALL_PEERS` is set, as in `.ci/run`, it fails.
public struct PeersTrait: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func scopeProvider(for test: Test, testCase: Test.Case?) -> PeersTrait? {
        testCase == nil ? nil : self
    }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        do {
            try await function()
        } catch let missing as MissingProgram where ProcessInfo.processInfo.environment["LOADINGKIT_ALL_PEERS"] == nil {
            // Scripts/test.sh collects lines of this form, which a trait of the testing library writes for its tests.
            // Before 6.3 the testing library counts it as passed.
            print("\n➜ Test \(test.name) skipped: \"\(missing)\"")
            #if compiler(>=6.3)
                try Test.cancel("\(missing)")
            #endif
        }
    }
}

extension Trait where Self == PeersTrait {
    /// The test or suite needs programs of other projects.
    public static var usesPeers: Self { PeersTrait() }
}
