import LoadingKitHTTP2

/// Reads the same frames again and again.
final class FrameReader {
    private let transmission: Transmission
    private var decoder = HTTP2FrameDecoder()

    init(_ transmission: Transmission) { self.transmission = transmission }

    /// The frames, where a DATA frame counts when it is complete.
    func frames() throws -> Int { try Self.frames(transmission, with: &decoder) }

    private static func frames(_ transmission: Transmission, with decoder: inout HTTP2FrameDecoder) throws -> Int {
        var (count, missing) = (0, 0)
        try transmission.forEachPiece { piece in
            var position = 0
            while let frame = try decoder.next(piece, &position) {
                if case .data(let fragment) = frame {
                    missing += (fragment.frameLength ?? 0) - fragment.flowControlled
                    if missing > 0 { continue }
                }
                count += 1
            }
        }
        return count
    }
}
