import LoadingKitHPACK
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
        make { HTTP2FrameWriter.settings(settings, into: &$0) }
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

/// What came of bytes: events as text, and how the connection ended.
struct Transcript: Equatable {
    var events: [String] = []
    var error: HTTP2ErrorCode?

    /// Feeds bytes, in pieces of so many.
    mutating func feed(_ bytes: [UInt8], to connection: inout HTTP2ConnectionStateMachine, pieces: Int = .max) {
        var rest = bytes[...]
        while !rest.isEmpty, error == nil {
            let piece = Array(rest.prefix(pieces))
            rest = rest.dropFirst(piece.count)
            piece.withUnsafeBytes { input in
                var position = 0
                do throws(HTTP2Error) {
                    while let event = try connection.receive(input, &position) { note(event, input, &connection) }
                } catch {
                    self.error = error.code
                }
            }
        }
    }

    private mutating func note(
        _ event: HTTP2Event, _ input: UnsafeRawBufferPointer, _ connection: inout HTTP2ConnectionStateMachine
    ) {
        switch event {
        case .head(let stream, .response(let status, let fields), let end):
            events.append("\(stream): \(status) \(fields.count)\(end ? " end" : "")")
        case .head(let stream, .request(let head), let end):
            events.append("\(stream): \(head.method) \(head.path ?? "")\(end ? " end" : "")")
        case .data(let stream, let range, let end):
            connection.didConsume(range.count, of: stream)
            let text = String(decoding: input[range], as: UTF8.self)
            // Pieces of one body are one.
            if let last = events.last, last.hasPrefix("\(stream): data "), !last.hasSuffix(" end") {
                events[events.count - 1] += text + (end ? " end" : "")
            } else {
                events.append("\(stream): data \(text)\(end ? " end" : "")")
            }
        case .trailers(let stream, let fields): events.append("\(stream): trailers \(fields.count)")
        case .reset(let stream, let code): events.append("\(stream): reset \(code)")
        case .failed(let stream, let error): events.append("\(stream): failed \(error.code)")
        case .goAway(let last, let code, _): events.append("goaway \(last) \(code)")
        case .settingsChanged, .settingsAcknowledged, .pingAcknowledged, .windowOpened: break
        }
    }
}
