import LoadingKitContentCoding
import TestSupport
import Testing

/// Bytes behind the end of a body's coding: one rule for all codings.
@Suite struct BytesBehindTests {
    private static let text = Array("What is behind the end is nothing of the body. ".utf8)
    private static let limit = 64 * 1024

    /// One of each coding, and such as end in another way.
    private static func bodies() throws -> [(coding: String, body: [UInt8])] {
        var bodies = try ContentCoding.builtIn.map { ($0.rawValue, try $0.encode(text)) }
        bodies.append(("gzip", Coder.member(text) + Coder.member([])))
        bodies.append(("deflate", Coder.compress(text, .raw)))
        #if Zstd
            bodies.append(("zstd", ZstdEncoder.compress(text) + ZstdEncoder.skippable([7])))
        #endif
        return bodies
    }

    @Test func itIsIgnored() throws {
        for (coding, body) in try Self.bodies() {
            for behind in [Array("trailing".utf8), [0], [0, 0], [0, 0, 0], [UInt8](repeating: 0, count: Self.limit)] {
                #expect(try decoded(body + behind, coding) == Self.text, "\(coding), \(behind.count) bytes")
            }
            let pieces = (body + [0, 0, 0, 0, 0, 1]).map { [$0][...] }
            #expect(failure(pieces, coding) == nil, "\(coding)")
        }
    }

    @Test func itHasABound() throws {
        for (coding, body) in try Self.bodies() {
            let behind = [UInt8](repeating: 0, count: Self.limit + 1)
            let expected = ContentCodingError.Kind.corrupt("more than 65536 bytes follow its end")
            #expect(failure(body + behind, coding) == expected, "\(coding)")
            let pieces = [body[...]] + behind.map { [$0][...] }
            #expect(failure(pieces, coding) == expected, "\(coding), byte by byte")
        }
    }
}
