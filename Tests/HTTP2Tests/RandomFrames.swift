import TestSupport

/// Frames that are mostly right, for fuzzing.
enum RandomFrames {
    static func frame(using random: inout SeededGenerator) -> [UInt8] {
        let type = UInt8.random(in: 0...10, using: &random)
        let stream: UInt32 =
            [4, 6, 7].contains(type) && Int.random(in: 0..<20, using: &random) > 0
            ? 0 : UInt32.random(in: 0...9, using: &random)
        let flags: [UInt8] = [0, 1, 4, 5, 8, 9, 0xc, 0x20, 0x24, 0x2d, UInt8.random(in: 0...255, using: &random)]
        var payload = (0..<length(type, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        if type == 8, Bool.random(using: &random), payload.count == 4 { payload = [0, 0, 1, payload[3]] }
        if type == 4, payload.count >= 6 { payload.replaceSubrange(0..<4, with: [0, payload[1] % 10, 0, 0]) }
        return Bytes.frame(
            type: type,
            flags: type == 1 || type == 9
                ? (flags.randomElement(using: &random) ?? 0) | 4
                : flags.randomElement(using: &random) ?? 0,
            stream: stream, payload)
    }

    private static func length(_ type: UInt8, using random: inout SeededGenerator) -> Int {
        if Int.random(in: 0..<25, using: &random) == 0 { return Int.random(in: 0...20, using: &random) }
        switch type {
        case 2: return 5
        case 3, 8: return 4
        case 4: return 6 * Int.random(in: 0...3, using: &random)
        case 6: return 8
        case 7: return Int.random(in: 8...20, using: &random)
        default: return Int.random(in: 0...40, using: &random)
        }
    }
}
