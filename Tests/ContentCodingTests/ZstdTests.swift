#if Zstd
    import LoadingKitContentCoding
    import TestSupport
    import Testing

    /// Bodies in the coding zstd (RFC 8878), whose windows are bounded (RFC 9659).
    @Suite struct ZstdTests {
        private struct Case: CustomTestStringConvertible, Sendable {
            let name: String
            let body: [UInt8]
            let expected: [UInt8]
            var testDescription: String { name }

            init(_ name: String, _ body: [UInt8], _ expected: [UInt8] = ZstdTests.text) {
                self.name = name
                self.body = body
                self.expected = expected
            }
        }

        private static let text = Array("It was the spring of hope, it was the winter of despair. ".utf8)
        private static let long = (0..<2_000).flatMap { number in text + Array("\(number)".utf8) }
        private static let frame = ZstdEncoder.compress(text)
        private static let skipped = ZstdEncoder.skippable(text, 15)

        private static let cases =
            ([1, 3, 19] as [Int32]).flatMap { level in
                [true, false].flatMap { saysSize in
                    [true, false].map { hasChecksum in
                        Case(
                            "level \(level)\(saysSize ? ", with its size" : "")\(hasChecksum ? ", with a checksum" : "")",
                            ZstdEncoder.compress(text) {
                                $0.level = level
                                $0.saysSize = saysSize
                                $0.hasChecksum = hasChecksum
                            })
                    }
                }
            } + [
                Case("nothing", ZstdEncoder.compress([]), []),
                Case("nothing of unknown size", ZstdEncoder.compress([]) { $0.saysSize = false }, []),
                Case(
                    "one byte that is repeated", ZstdEncoder.compress([UInt8](repeating: 65, count: 900)),
                    .init(repeating: 65, count: 900)),
                Case("two bytes of size", ZstdEncoder.compress(Array(long.prefix(300))), Array(long.prefix(300))),
                Case(
                    "two frames",
                    ZstdEncoder.compress(Array(text[..<9]))
                        + ZstdEncoder.compress(Array(text[9...])) { $0.saysSize = false }),
                Case("frames of nothing around one", ZstdEncoder.compress([]) + frame + ZstdEncoder.compress([])),
                Case("a frame to skip first", skipped + frame), Case("and last", frame + skipped),
                Case(
                    "several to skip", skipped + ZstdEncoder.skippable([]) + skipped + frame + ZstdEncoder.skippable([])
                ),
                Case("frames to skip alone", skipped + skipped, []),
            ]

        @Test(arguments: cases) private func everyCutGivesTheSame(_ test: Case) throws {
            let body = test.body
            for room in [1, 2, 7, 4096] {
                #expect(try decoded(body, "zstd", room: room) == test.expected, "room for \(room)")
            }
            #expect(try decoded(body.indices.map { body[$0...$0] }, "ZSTD", room: 1) == test.expected, "byte by byte")
            let wrong = body.indices.filter { split in
                (try? decoded([body[..<split], [], body[split...]], "zstd")) != test.expected
            }
            #expect(wrong == [], "splits")
        }

        @Test func truncatedAtEveryOffset() {
            let checked = ZstdEncoder.compress(Self.text) { $0.hasChecksum = true }
            for body in [Self.frame, checked, Self.skipped, ZstdEncoder.compress(Array(Self.long.prefix(2_000)))] {
                #expect((1..<body.count).filter { failure(Array(body[..<$0]), "zstd") != .truncated } == [])
                let second = Self.frame + body
                let wrong = (Self.frame.count + 1..<second.count).filter {
                    failure(Array(second[..<$0]), "zstd") != .truncated
                }
                #expect(wrong == [], "in the second frame")
            }
        }

        @Test func aLargeBody() throws {
            let body = ZstdEncoder.compress(Self.long) { $0.windowLog = 14 }
            for (piece, room) in [(body.count, 1 << 20), (1460, 16384), (1, 300), (body.count, 1)] {
                let pieces = stride(from: 0, to: body.count, by: piece).map { body[$0..<min($0 + piece, body.count)] }
                #expect(try decoded(pieces, "zstd", room: room) == Self.long, "pieces of \(piece), room for \(room)")
            }
        }

        /// Flushed bytes can be read before the rest arrives.
        @Test func flushedPieces() throws {
            let plain = [Self.text, [2], Array(Self.long.prefix(40_000)), [1]]
            let decoder = try #require(ContentDecoder(contentEncoding: "zstd"))
            for (piece, coded) in zip(plain, ZstdEncoder.compress(pieces: plain)) {
                #expect(try drained(decoder, coded) == piece)
                // Asked again and again with nothing new, it waits.
                for _ in 0..<40 { #expect(try drained(decoder, []) == []) }
            }
            try decoder.finish()
        }

        @Test func stackedCodings() throws {
            let cases: [(String, [UInt8])] = [
                ("gzip, zstd", ZstdEncoder.compress(Coder.member(Self.text))), ("zstd, gzip", Coder.member(Self.frame)),
                ("zstd, zstd", ZstdEncoder.compress(Self.frame)), ("identity, zstd", Self.frame),
            ]
            for (coding, body) in cases {
                for room in [1, 4096] { #expect(try decoded(body, coding, room: room) == Self.text, "\(coding)") }
                #expect(try decoded(body.indices.map { body[$0...$0] }, coding) == Self.text, "\(coding)")
                let wrong = (1..<body.count).filter { failure(Array(body[..<$0]), coding) != .truncated }
                #expect(wrong == [], "\(coding)")
            }
            #expect(failure(Coder.member(Array(Self.frame.dropLast())), "zstd, gzip") == .truncated)
            #expect(failure(Coder.member([]), "zstd, gzip") == .truncated)
            #expect(try decoded([UInt8](), "zstd") == [])
        }

        /// The larger frame is refused whether or not it comes whole with room for all of it.
        @Test(arguments: [(10, true), (23, true), (24, false), (27, false), (31, false)] as [(Int32, Bool)])
        func windows(_ log: Int32, _ isDecoded: Bool) {
            // No single segment, no size; a window of so much; one raw block that is the last.
            let body: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0, UInt8(log - 10) << 3, 0x09, 0, 0, 7]
            for pieces in [[body[...]], body.indices.map { body[$0...$0] }] {
                let failed = failure(pieces, "zstd")
                #expect(failed == (isDecoded ? nil : .corrupt("Frame requires too much memory for decoding")))
            }
        }

        /// A frame whose content's size is said, and fits into the reader's memory, is refused all the same.
        @Test func windowsOfFramesWithSizes() {
            let body: [UInt8] =
                [0x28, 0xb5, 0x2f, 0xfd, 0x40, 21 << 3, 0, 0, 0x01, 0x08, 0] + [UInt8](repeating: 7, count: 256)
            #expect(failure(body, "zstd") == .corrupt("Frame requires too much memory for decoding"))
            #expect(failure(body.indices.map { body[$0...$0] }, "zstd") == failure(body, "zstd"))
        }

        private static let corrupted: [(String, [UInt8], String)] = [
            ("no zstd", Array("<html>".utf8), "it does not begin with zstd's magic number"),
            ("an older format", [0x27, 0xb5, 0x2f, 0xfd, 0, 0, 0], "it does not begin with zstd's magic number"),
            (
                "a checksum that is another", ZstdEncoder.compress(text) { $0.hasChecksum = true }.dropLast() + [0],
                "Restored data doesn't match checksum"
            ),
            ("a dictionary", [0x28, 0xb5, 0x2f, 0xfd, 0x21, 9, 1, 0x49, 0, 0], "Dictionary mismatch"),
            (
                "a block of an unknown kind", [0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 0x0f, 0, 0, 7],
                "Data corruption detected"
            ),
        ]

        @Test func corruptBodies() throws {
            for (name, body, reason) in Self.corrupted {
                for pieces in [[body[...]], body.indices.map { body[$0...$0] }] {
                    #expect(failure(pieces, "zstd") == .corrupt(reason), "\(name)")
                }
                let decoder = try #require(ContentDecoder(contentEncoding: "zstd"))
                _ = try? drained(decoder, body)
                let error = #expect(throws: ContentCodingError.self, "the error stays") { try drained(decoder, body) }
                #expect(error?.description == "the body is not valid zstd: \(reason)")
                #expect(throws: ContentCodingError.self) { try decoder.finish() }
            }
        }

        @Test func aBombIsStopped() throws {
            let zeros = [UInt8](repeating: 0, count: 40 << 20)
            for body in [
                ZstdEncoder.compress(zeros),
                (0..<40).flatMap { _ in ZstdEncoder.compress(Array(zeros.prefix(1 << 20))) },
            ] {
                #expect(body.count < 100_000)
                #expect(failure(body, "zstd") == .expandsTooFar(ratio: 200))
                #expect(failure(Coder.member(body), "zstd, gzip") == .expandsTooFar(ratio: 200))
                var limits = DecompressionLimits()
                limits.ratio = .max
                #expect(try decoded(body, "zstd", room: 1 << 16, limits: limits).count == zeros.count)
            }
        }
    }
#endif
