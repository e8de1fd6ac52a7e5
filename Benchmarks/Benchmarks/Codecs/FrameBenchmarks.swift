/// HTTP/2 frames. No peer exports a codec of frames by itself.
enum FrameBenchmarks {
    static func register() {
        let output = OutputBuffer()
        compare("written: HEADERS, DATA of 1 KiB and others") {
            _ = output.fill { FrameSequence.write(into: &$0) }
            return FrameSequence.count
        }
        var bytes: [UInt8] = []
        FrameSequence.write(into: &bytes)
        // As much as TLS gives at a time, and far less.
        read("read, in pieces of 16 KiB", Transmission(bytes, pieces: bytes.count / 16_384 + 1))
        read("read, in pieces of 100 B", Transmission(bytes, pieces: bytes.count / 100 + 1))
    }

    private static func read(_ name: String, _ transmission: Transmission) {
        let reader = FrameReader(transmission)
        compare(name) {
            let count = try reader.frames()
            try Disagreement.check("frames read, and written", count, FrameSequence.count)
            return count
        }
    }

    private static func compare(_ name: String, _ work: @escaping () throws -> Int) {
        Comparison(
            subject: .frames, name: name, unit: "ns a frame", amount: Double(FrameSequence.count),
            contenders: [.ours(work)]
        ).register()
    }
}
