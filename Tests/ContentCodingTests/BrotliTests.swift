#if Brotli
    import LoadingKitContentCoding
    import TestSupport
    import Testing

    /// Bodies in the coding br (RFC 7932).
    @Suite struct BrotliTests {
        private static let text = Array("It was the season of Light, it was the season of Darkness. ".utf8)
        private static let long = (0..<2_000).flatMap { number in text + Array("\(number)".utf8) }

        @Test(arguments: [(0, 10), (1, 22), (5, 18), (9, 24), (11, 22)] as [(Int32, Int32)])
        func everyCutGivesTheSame(_ quality: Int32, _ windowBits: Int32) throws {
            for plain in [[], [7], Self.text, Array(Self.long.prefix(3_000))] {
                let body = BrotliEncoder.compress(plain, quality: quality, windowBits: windowBits)
                for room in [1, 2, 7, 4096] {
                    #expect(try decoded(body, "br", room: room) == plain, "room for \(room)")
                }
                #expect(try decoded(body.indices.map { body[$0...$0] }, "BR", room: 1) == plain, "byte by byte")
                let wrong = body.indices.filter { split in
                    (try? decoded([body[..<split], [], body[split...]], "br")) != plain
                }
                #expect(wrong == [], "splits")
                let truncated = (1..<max(1, body.count)).filter { failure(Array(body[..<$0]), "br") != .truncated }
                #expect(truncated == [], "truncated")
                #expect(try decoded(body + Array("trailing".utf8), "br") == plain)
                #expect(try decoded([body[...], [1, 2]], "br") == plain)
            }
        }

        @Test func aLargeBody() throws {
            let body = BrotliEncoder.compress(Self.long, windowBits: 24)
            for (piece, room) in [(body.count, 65536), (1460, 16384), (1, 300), (body.count, 1)] {
                let pieces = stride(from: 0, to: body.count, by: piece).map { body[$0..<min($0 + piece, body.count)] }
                #expect(try decoded(pieces, "br", room: room) == Self.long, "pieces of \(piece), room for \(room)")
            }
        }

        /// Flushed bytes can be read before the rest arrives.
        @Test func flushedPieces() throws {
            let plain = [Self.text, [], Array(Self.long.prefix(40_000)), [1]]
            let decoder = try #require(ContentDecoder(contentEncoding: "br"))
            for (piece, coded) in zip(plain, BrotliEncoder.compress(pieces: plain)) {
                #expect(try drained(decoder, coded) == piece)
            }
            try decoder.finish()
        }

        @Test func stackedCodings() throws {
            let brotli = BrotliEncoder.compress(Self.text)
            let cases: [(String, [UInt8])] = [
                ("gzip, br", BrotliEncoder.compress(Coder.member(Self.text))), ("br, gzip", Coder.member(brotli)),
                ("br, br", BrotliEncoder.compress(brotli)),
                ("br, deflate, gzip", Coder.member(Coder.compress(brotli, .raw))), ("identity, br", brotli),
            ]
            for (coding, body) in cases {
                for room in [1, 4096] { #expect(try decoded(body, coding, room: room) == Self.text, "\(coding)") }
                #expect(try decoded(body.indices.map { body[$0...$0] }, coding) == Self.text, "\(coding)")
                let wrong = (1..<body.count).filter { failure(Array(body[..<$0]), coding) != .truncated }
                #expect(wrong == [], "\(coding)")
            }
            #expect(failure(Coder.member(Array(brotli.dropLast())), "br, gzip") == .truncated)
            #expect(failure(Coder.member([]), "br, gzip") == .truncated)
            #expect(try decoded([UInt8](), "br") == [])
        }

        /// Large windows are no part of the content coding (RFC 7932 §9.1): their first byte is reserved.
        @Test(arguments: [Array("<html>".utf8), [0x11, 0x1b, 0, 0], [0xff, 0xff, 0xff, 0xff]])
        func corruptBodies(_ body: [UInt8]) throws {
            for pieces in [[body[...]], body.indices.map { body[$0...$0] }] {
                guard case .corrupt = failure(pieces, "br") else {
                    Issue.record("\(body): \(String(describing: failure(pieces, "br")))")
                    continue
                }
            }
            let decoder = try #require(ContentDecoder(contentEncoding: "br"))
            for _ in 0..<2 {
                let error = #expect(throws: ContentCodingError.self) { try drained(decoder, body) }
                #expect(error?.coding == .brotli && error?.description.hasPrefix("the body is not valid br: ") == true)
            }
            #expect(throws: ContentCodingError.self) { try decoder.finish() }
        }

        /// A block has more bytes than its length says. libbrotlidec finds it before or after it writes some of them.
        @Test func aBlockThatIsTooLongIsOneError() {
            let body: [UInt8] = [
                0x01, 0x00, 0x00, 0x00, 0x20, 0x65, 0x10, 0x10, 0x6f, 0x05, 0x01, 0x32, 0, 0, 0, 0, 0x7a, 0x72, 0x03,
            ]
            for pieces in [[body[...]], body.indices.map { body[$0...$0] }] {
                for room in [1, 2, 4096] { #expect(failure(pieces, "br", room: room) == .corrupt("BLOCK_LENGTH")) }
            }
        }

        @Test func aBombIsStopped() throws {
            let zeros = [UInt8](repeating: 0, count: 40 << 20)
            let body = BrotliEncoder.compress(zeros, quality: 1)
            #expect(body.count < 100_000)
            #expect(failure(body, "br") == .expandsTooFar(ratio: 200))
            #expect(failure(Coder.member(body), "br, gzip") == .expandsTooFar(ratio: 200))
            var limits = DecompressionLimits()
            limits.ratio = .max
            #expect(try decoded(body, "br", room: 1 << 16, limits: limits).count == zeros.count)
        }
    }
#endif
