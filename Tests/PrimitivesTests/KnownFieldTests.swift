import LoadingKitPrimitives
import Testing

@Suite struct KnownFieldTests {
    @Test func everyNameIsRecognisedInAnyCase() {
        for known in KnownField.allCases where known != .other {
            let spellings = [known.name, known.name.lowercased(), known.name.uppercased()]
            #expect(spellings.map(KnownField.init(name:)) == [known, known, known])
            #expect(known.nameBytes.elementsEqual(known.name.utf8))
        }
        #expect(KnownField.other.name.isEmpty)
    }

    /// Names and cases are two lists in the same order.
    @Test func everyCaseHasItsName() {
        for known in KnownField.allCases where known != .other {
            #expect(known.name.lowercased().filter { $0 != "-" } == "\(known)".lowercased())
        }
    }

    @Test func namesAreDistinct() {
        #expect(Set(KnownField.allCases.map { $0.name.lowercased() }).count == KnownField.allCases.count)
    }

    /// One byte changed, added or left out makes another name, unless it is a letter's other case.
    @Test func nothingElseIsRecognised() {
        var wrong: [String] = []
        for known in KnownField.allCases where known != .other {
            let name = Array(known.name.utf8)
            for index in name.indices {
                for bit: UInt8 in [0x01, 0x20, 0x40, 0x80] {
                    var changed = name
                    changed[index] ^= bit
                    let isLetter = (changed[index] | 0x20) &- 0x61 < 26
                    if bit == 0x20, isLetter { continue }
                    if field(changed) == known { wrong.append("\(known): \(changed)") }
                }
            }
            if field(Array(name.dropLast())) == known || field(name + [0x2D]) == known { wrong.append("\(known)") }
        }
        #expect(wrong.isEmpty)
        #expect(
            ["", "X", "Content-Lengths", "Conten-Length", "Content Length"].map(KnownField.init(name:)).allSatisfy {
                $0 == .other
            })
    }

    private func field(_ bytes: [UInt8]) -> KnownField { bytes.withUnsafeBytes { KnownField(nameBytes: $0) } }
}
