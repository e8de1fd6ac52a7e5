import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

@Suite("Cache-Control") struct CacheControlTests {
    struct Case: Sendable {
        let lines: [String]
        let expected: CacheControl

        init(_ lines: String..., change: (inout CacheControl) -> Void) {
            self.lines = lines
            var control = CacheControl()
            change(&control)
            expected = control
        }
    }

    @Test(
        "is read tolerantly",
        arguments: [
            Case("max-age=60") { $0.maxAge = 60 },
            Case("MaX-aGe=60, No-StOrE") { ($0.maxAge, $0.flags) = (60, .noStore) },
            Case("max-age=\"60\"") { $0.maxAge = 60 },
            Case("max-age = 60 ,  private") { ($0.maxAge, $0.flags) = (60, .isPrivate) },
            Case("foobar, max-age=60") { $0.maxAge = 60 },
            Case("x=\"a, no-store\", public") { $0.flags = .isPublic },
            Case("x=\"a\\\", no-store\", public") { $0.flags = .isPublic },
            Case("x=\"never closed, no-store") { _ in },
            Case(",,  ,no-cache,", ",") { $0.flags = .noCache },
            Case("max-age=-3600") { $0.maxAge = 0 },
            Case("max-age=1.5") { $0.maxAge = 0 },
            Case("max-age") { $0.maxAge = 0 },
            Case("max-age=") { $0.maxAge = 0 },
            Case("max-age=1, max-age=2") { $0.maxAge = 1 },
            Case("s-maxage=60", "max-age=1") { $0.maxAge = 1 },
            Case("max-age=2147483649") { $0.maxAge = 2_147_483_648 },
            Case("max-age=99999999999999999999999") { $0.maxAge = 2_147_483_648 },
            Case("no-cache=\"Set-Cookie, a\"") { $0.noCacheFields = ["set-cookie", "a"] },
            Case("no-cache=\"\"") { $0.flags = .noCache },
            Case("no-cache=a") { $0.noCacheFields = ["a"] },
            Case("max-stale") { $0.maxStale = .infinity },
            Case("max-stale=5, min-fresh=6, only-if-cached") {
                ($0.maxStale, $0.minFresh, $0.flags) = (5, 6, .onlyIfCached)
            },
            Case("max-stale=x, min-fresh=-1") { _ in },
            Case("stale-while-revalidate=7, stale-if-error=8, must-revalidate, immutable, must-understand") {
                ($0.staleWhileRevalidate, $0.staleIfError) = (7, 8)
                $0.flags = [.mustRevalidate, .immutable, .mustUnderstand]
            },
            Case("=, =5, \"max-age=5\", no-store=") { $0.flags = .noStore },
            Case("") { _ in },
        ])
    func directives(_ test: Case) {
        #expect(CacheControl(.lines(test.lines.map { "Cache-Control: \($0)" })) == test.expected, "\(test.lines)")
    }

    @Test("has an older relative in requests")
    func pragma() {
        #expect(CacheControl(ofRequest: .lines("Pragma: x, No-Cache")).flags == .noCache)
        #expect(CacheControl(ofRequest: .lines("Pragma: no-cache", "Cache-Control: max-age=1")).flags == [])
        #expect(CacheControl(.lines("Pragma: no-cache")).flags == [])
    }

    @Test("never traps, whatever the bytes")
    func fuzz() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("max-age=1\", \\no-cache\t;=é".utf8)
        for _ in 0..<3000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            var fields = HTTPFields()
            bytes.withUnsafeBytes { fields.append(.cacheControl, valueBytes: $0) }
            _ = CacheControl(fields)
            _ = EntityTag.list(String(decoding: bytes, as: UTF8.self))
            _ = ByteRange(String(decoding: bytes, as: UTF8.self))
            _ = ContentRange(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test(
        "writes seconds whole",
        arguments: [
            (0.0, "0"), (1.9, "1"), (-5, "0"), (.infinity, "2147483648"), (.nan, "0"), (1e300, "2147483648"),
        ])
    func seconds(_ seconds: Double, _ text: String) { #expect(DeltaSeconds.string(seconds) == text) }
}
