import Foundation
import Testing

@testable import LoadingKitCore

@Suite struct CookieExpiryTests {
    /// A cookie that is set again and again is removed at the last of its expiry times.
    @Test func cookiesThatAreSetAgain() {
        var jar = CookieJar()
        let start = Date(timeIntervalSinceReferenceDate: 0)
        func cookie(_ name: String, _ end: Double, _ value: String = "") -> CookieRecord {
            var record = CookieRecord(
                identity: .init(name: name, domain: "h.example", isHostOnly: true, path: "/"), value: value,
                creation: start)
            record.expires = start.addingTimeInterval(end)
            return record
        }
        for index in 0..<1000 { _ = jar.store(cookie("a", 10 + Double(index), "\(index)"), at: start) }
        _ = jar.store(cookie("b", 5000), at: start.addingTimeInterval(1008))
        #expect(jar.count == 2 && jar.endCount == 2)
        let changes = jar.store(cookie("c", 5000), at: start.addingTimeInterval(1009))
        #expect(jar.count == 2 && changes.count == 2 && jar.endCount == 2)
        var ofSession = cookie("b", 0)
        ofSession.expires = nil
        _ = jar.store(ofSession, at: start.addingTimeInterval(1010))
        #expect(jar.count == 2 && jar.endCount == 1)
        _ = jar.removeAll { _ in true }
        #expect(jar.count == 0 && jar.endCount == 0)
    }
}
