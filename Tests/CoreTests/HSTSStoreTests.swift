import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore

@Suite struct HSTSStoreTests {
    @Test func fields() {
        let cases: [(String, TimeInterval?, Bool)] = [
            ("max-age=31536000", 31_536_000, false), ("max-age=1; includeSubDomains", 1, true),
            (" MAX-AGE = \"10\" ;; includesubdomains ; preload", 10, true), ("max-age=0", 0, false),
            ("max-age=99999999999999999999999", 100 * 365.25 * 86_400, false), ("includeSubDomains", nil, false),
            ("max-age", nil, false), ("max-age=-1", nil, false), ("max-age=1; max-age=2", nil, false), ("", nil, false),
            ("max-age=1x", nil, false), ("max-age=\"", nil, false),
        ]
        for (text, age, includesSubdomains) in cases {
            let field = HSTSField(text)
            #expect(field?.maximumAge == age, "\(text)")
            #expect(field?.includesSubdomains ?? false == includesSubdomains, "\(text)")
        }
    }

    @Test func hostsAreRememberedForAsLongAsTheySaid() {
        let date = Guarded(Date(timeIntervalSince1970: 0))
        let store = HSTSStore { date.withLock { $0 } }
        store.note("max-age=10", from: "a.example")
        store.note("max-age=20; includeSubDomains", from: "B.example.")
        // Addresses have no policy (RFC 6797 §8.1.1), however they are written.
        for address in ["127.0.0.1", "127.1", "0x7f.0.0.1", "3405803777.", "::1", "fe80::1%eth9", "::ffff:203.0.113.1"]
        {
            store.note("max-age=20; includeSubDomains", from: address)
            #expect(!store.requiresSecureConnection(to: address))
        }
        func secured() -> [String] {
            ["a.example", "x.a.example", "b.example", "x.y.b.example.", "example", "xb.example", "127.0.0.1"]
                .filter(store.requiresSecureConnection)
        }
        #expect(secured() == ["a.example", "b.example", "x.y.b.example."])
        date.withLock { $0 = Date(timeIntervalSince1970: 11) }
        #expect(secured() == ["b.example", "x.y.b.example."])
        store.note("max-age=0", from: "b.example")
        #expect(secured().isEmpty)
    }

    /// All hosts are compared then: not for each further one.
    @Test func beyondTheLimitTheHostsWhosePoliciesEndFirstAreForgotten() {
        let store = HSTSStore { Date(timeIntervalSince1970: 0) }
        func note(_ numbers: Range<Int>) {
            for number in numbers { store.note("max-age=\(number + 1)", from: "h\(number).example") }
        }
        func known(_ numbers: Range<Int>) -> Int {
            numbers.filter { store.requiresSecureConnection(to: "h\($0).example") }.count
        }
        note(0..<10_000)
        #expect(known(0..<10_000) == 10_000)
        note(10_000..<10_001)
        #expect(known(0..<1_251) == 0 && known(1_251..<10_001) == 8_750)
        note(10_001..<11_251)
        #expect(known(1_251..<11_251) == 10_000)
    }

    /// A server may redirect to such a host: the time must not grow with the square of its length.
    @Test(.timeLimit(.minutes(5))) func aHostOfManyLabels() {
        let store = HSTSStore()
        store.note("max-age=10; includeSubDomains", from: "b.example")
        let labels = String(repeating: "a.", count: 120_000)
        #expect(store.requiresSecureConnection(to: labels + "b.example"))
        #expect(!store.requiresSecureConnection(to: labels + "c.example"))
        // A host's own policy applies whatever its length.
        store.note("max-age=10", from: labels + "c.example")
        #expect(store.requiresSecureConnection(to: labels + "c.example"))
        #expect(!store.requiresSecureConnection(to: "a." + labels + "c.example"))
    }
}
