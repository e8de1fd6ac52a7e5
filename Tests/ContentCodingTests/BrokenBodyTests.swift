import LoadingKitContentCoding
import TestSupport
import Testing

/// Bodies that are not what their coding says, or are meant to do harm.
@Suite struct BrokenBodyTests {
    private static let text = Array("It was the best of times, it was the worst of times. ".utf8)

    @Test func anEarlyEndIsToldFromAnyPlace() {
        for (format, coding) in [(Coder.Format.gzip, "gzip"), (.zlib, "deflate"), (.raw, "deflate")] {
            let body = Coder.compress(Self.text, format)
            let unnoticed = (1..<body.count).filter { failure(Array(body[..<$0]), coding) != .truncated }
            #expect(unnoticed == [], "\(format)")
        }
    }

    @Test func damageIsToldOrHarmless() {
        for (format, coding) in [(Coder.Format.gzip, "gzip"), (.zlib, "deflate")] {
            let body = Coder.compress(Self.text, format)
            for index in body.indices {
                for bit in 0..<8 {
                    var damaged = body
                    damaged[index] ^= 1 << UInt8(bit)
                    // Both formats end with a checksum, so what is decoded without an error is right.
                    if let decoded = try? decoded(damaged, coding) {
                        #expect(decoded == Self.text, "\(format), byte \(index), bit \(bit)")
                    }
                }
            }
        }
    }

    @Test func headersThatAreNone() {
        let member = Coder.member(Self.text)
        for (index, value) in [(0, 0x1e), (1, 0), (2, 7), (3, 0x20), (3, 0x80)] as [(Int, UInt8)] {
            var body = member
            body[index] = value
            guard case .corrupt = failure(body, "gzip") else {
                Issue.record("byte \(index) as \(value): \(String(describing: failure(body, "gzip")))")
                continue
            }
        }
        for offset in 1...8 {
            var body = member
            body[body.count - offset] ^= 1
            guard case .corrupt = failure(body, "gzip") else {
                Issue.record("trailer, \(offset) from its end")
                continue
            }
        }
    }

    /// A quarter of a gibibyte, of which no more is held than there is room for.
    @Test func aBombComesInPieces() throws {
        let (pieces, size) = (256, 1 << 20)
        let zeros = [UInt8](repeating: 0, count: size)
        var bomb: [UInt8] = []
        Coder.compress(repeatElement(zeros, count: pieces), .gzip) { bomb += $0 }
        #expect(bomb.count < 300_000)
        let decoder = try #require(ContentDecoder(contentEncoding: "gzip"))
        var room = [UInt8](repeating: 0, count: 65536)
        var total = 0
        try bomb.withUnsafeBytes { input in
            var position = 0
            while true {
                let count = try room.withUnsafeMutableBytes { try decoder.decode(input, position: &position, into: $0) }
                if count == 0 { break }
                total += count
            }
        }
        try decoder.finish()
        #expect(total == pieces * size)
    }

    /// Each coding alone is within its bounds; both together are not.
    @Test func aBombInABombIsStopped() {
        var inner: [UInt8] = []
        Coder.compress(repeatElement([UInt8](repeating: 0, count: 1 << 20), count: 64), .gzip) { inner += $0 }
        let bomb = Coder.compress(inner, .gzip)
        #expect(failure(bomb, "gzip, gzip") == .expandsTooFar(ratio: DecompressionLimits().ratio))
    }

    @Test(arguments: 0..<4) func whateverComesIsDecodedOrRefused(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let bodies = Coder.Format.allCases.map { Coder.compress(Self.text, $0) }
        for _ in 0..<500 {
            var body = bodies[Int.random(in: 0..<3, using: &random)]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: body[index] = UInt8.random(in: 0...255, using: &random)
                case 1: body.insert(UInt8.random(in: 0...255, using: &random), at: index)
                default: if body.count > 1 { body.remove(at: index) }
                }
            }
            for coding in ["gzip", "deflate", "gzip, deflate"] {
                do {
                    _ = try decoded(body, coding, room: 64)
                } catch is ContentCodingError {
                } catch {
                    Issue.record("\(error) for \(body)")
                }
            }
        }
    }
}
