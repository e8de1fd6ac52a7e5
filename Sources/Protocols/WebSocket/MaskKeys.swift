/// Keys that nobody can foresee, so that no program chooses what its bytes look like on the way (RFC 6455 §10.3). Drawn
/// from the system many at a time.
struct MaskKeys: Sendable {
    private static let batch = 64
    private var keys: [UInt32] = []

    mutating func next() -> WebSocketMask {
        if keys.isEmpty {
            var generator = SystemRandomNumberGenerator()
            for _ in 0..<Self.batch / 2 {
                let bits = generator.next()
                keys.append(UInt32(truncatingIfNeeded: bits))
                keys.append(UInt32(truncatingIfNeeded: bits >> 32))
            }
        }
        return WebSocketMask(bits: keys.popLast() ?? 0)
    }
}
