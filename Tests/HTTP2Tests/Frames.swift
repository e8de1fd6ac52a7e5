import LoadingKitHTTP2
import LoadingKitPrimitives

/// Bytes of frames, for peers that are scripted.
enum Frames {
    static func make(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var output: [UInt8] = []
        write(&output)
        return output
    }

    /// A frame with any header and payload.
    static func raw(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = number(UInt32(payload.count))
        return Array(length[1...]) + [type, flags] + number(stream) + payload
    }

    static func settings(_ settings: [HTTP2Setting] = []) -> [UInt8] {
        make { HTTP2FrameEncoder.settings(settings, to: &$0) }
    }

    /// A block whose fields are literals that no table keeps.
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            block += [0x00, UInt8(name.utf8.count)]
            block += Array(name.utf8)
            block.append(UInt8(value.utf8.count))
            block += Array(value.utf8)
        }
        return block
    }

    static func headers(_ stream: UInt32, _ fields: [(String, String)], end: Bool = false) -> [UInt8] {
        raw(1, flags: end ? 5 : 4, stream: stream, block(fields))
    }

    static func data(_ stream: UInt32, _ text: String, end: Bool = false) -> [UInt8] {
        raw(0, flags: end ? 1 : 0, stream: stream, Array(text.utf8))
    }

    static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
    }
}
