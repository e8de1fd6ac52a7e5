import LoadingKitHPACK
import Testing

@Suite struct HPACKErrorTests {
    @Test func eachKindHasItsOwnDescription() {
        let descriptions = Set(HPACKError.Kind.allCases.map { HPACKError($0, offset: 3).description })
        #expect(descriptions.count == HPACKError.Kind.allCases.count)
        #expect(descriptions.allSatisfy { $0.hasSuffix("(at byte 3)") })
    }
}
