import LoadingKitContentCoding
import TestSupport
import Testing

/// Any bytes, cut anyhow: decoded, or a typed error; the same one whatever the cuts, and no more than the bound allows.
@Suite struct FuzzTests {
    private enum Outcome: Equatable {
        case decoded([UInt8])
        case failed(ContentCodingError)
        case flawed(String)
    }

    private static func outcome(_ pieces: [ArraySlice<UInt8>], _ contentEncoding: String, room: Int) -> Outcome {
        do {
            return .decoded(try ContentCodingTests.decoded(pieces, contentEncoding, room: room))
        } catch let error as ContentCodingError {
            return .failed(error)
        } catch {
            return .flawed("\(error)")
        }
    }

    private static let codings =
        ContentCoding.builtIn.flatMap { [$0.rawValue, "gzip, \($0.rawValue)"] }
        + ["deflate, gzip", "deflate, deflate, gzip"]

    /// A body, and the value of the field that it is valid under.
    private typealias Seed = (coding: String, body: [UInt8])

    private static let seeds = Result<[Seed], any Error> {
        let text = Array("It was the epoch of belief, it was the epoch of incredulity. ".utf8)
        let long = (0..<40).flatMap { _ in text } + [UInt8](repeating: 0, count: 5000)
        var seeds: [Seed] = Coder.Format.allCases.flatMap { format in
            [(format.coding, Coder.compress(text, format)), (format.coding, Coder.compress(long, format, level: 1))]
        }
        for coding in ContentCoding.builtIn {
            seeds += try [text, long].map { (coding.rawValue, try coding.encode($0)) }
            seeds.append(("gzip, \(coding.rawValue)", try coding.encode(Coder.member(long))))
        }
        seeds += [
            ("gzip", Coder.member(text) + Coder.member(text, [.name, .checksum, .extra])), ("gzip", []),
            ("deflate, gzip", Coder.member(Coder.compress(long, .raw))),
            ("deflate", Coder.compress(text, .raw, level: 0)),
        ]
        #if Zstd
            let first = ZstdEncoder.compress(long) { $0.saysSize = false }
            seeds.append(("zstd", ZstdEncoder.compress(text) { $0.hasChecksum = true }))
            seeds.append(("zstd", first + ZstdEncoder.skippable(text) + ZstdEncoder.compress(text)))
        #endif
        return seeds
    }

    private static func mutated(_ seeds: [Seed], _ random: inout SeededGenerator) -> Seed {
        var (coding, bytes) = seeds.randomElement(using: &random) ?? ("gzip", [])
        // Half of the bodies keep their coding, so that some are decoded, however many codings there are.
        if Bool.random(using: &random) { coding = codings.randomElement(using: &random) ?? coding }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let index = Int.random(in: 0...bytes.count, using: &random)
            let length = min(Int.random(in: 0...8, using: &random), bytes.count - index)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: if length > 0 { bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
            case 1: bytes.replaceSubrange(index..<index + length, with: [])
            case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
            case 3: bytes.insert(contentsOf: (seeds.randomElement(using: &random)?.body ?? []).prefix(40), at: index)
            case _: bytes = Array(bytes[..<index])
            }
        }
        return (coding, bytes)
    }

    /// The codings whose decoders give all bytes before an error, however the input was cut. libbrotlidec and libzstd keep
    /// some of them, so that of two codings one upon the other either may fail first.
    private static let exact: Set = ["gzip", "deflate"]

    private static func isSame(_ whole: Outcome, _ pieces: Outcome, _ coding: String) -> Bool {
        let outer = coding.split(separator: ", ").dropFirst().last
        if case (.failed, .failed) = (whole, pieces), let outer, !exact.contains(String(outer)) { return true }
        return whole == pieces
    }

    private static func cut(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 0...30, using: &random))
            pieces.append(piece)
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }

    @Test(arguments: 0..<4) func anyBytes(_ seed: UInt64) throws {
        let seeds = try Self.seeds.get()
        let limits = DecompressionLimits()
        var random = SeededGenerator(seed: seed)
        var failures = 0
        for round in 0..<500 {
            let (coding, bytes) = Self.mutated(seeds, &random)
            let whole = Self.outcome([bytes[...]], coding, room: 4096)
            let pieces = Self.outcome(
                Self.cut(bytes, &random), coding, room: Int.random(in: 1...100, using: &random))
            var isFine = Self.isSame(whole, pieces, coding)
            switch whole {
            case .decoded(let output):
                isFine = isFine && output.count <= max(limits.minimumSize, limits.ratio * bytes.count)
            case .failed: failures += 1
            case .flawed: isFine = false
            }
            #expect(isFine, "round \(round): \(coding) \(bytes) gives \(whole), in pieces \(pieces)")
        }
        #expect((25..<475).contains(failures), "the mutations leave too few bodies valid, or too many")
    }
}
