import LoadingKitPrimitives
import Testing

@Suite struct ProcessEnvironmentTests {
    /// The tests' own program is no set-ID program.
    @Test func aSetIDProgramDoesNotFollowItsCaller() {
        #expect(!ProcessEnvironment.isSetID)
        #expect(ProcessEnvironment.value(of: "PATH") != nil)
        #expect(ProcessEnvironment.secureValue(of: "PATH") == ProcessEnvironment.value(of: "PATH"))
        #expect(ProcessEnvironment.secureValue(of: "PATH", isSetID: true) == nil)
        #expect(ProcessEnvironment.secureValue(of: "LOADINGKIT_NO_SUCH_VARIABLE") == nil)
    }
}
