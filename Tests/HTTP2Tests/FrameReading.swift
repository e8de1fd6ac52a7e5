import LoadingKitHTTP2

/// Reads all frames of pieces of bytes, and puts the pieces of DATA frames together.
struct FrameReading {
    var decoder = HTTP2FrameDecoder()
    private(set) var frames: [WholeFrame] = []
    private var hasFailed = false

    init(limits: HTTP2Limits = HTTP2Limits()) { decoder = HTTP2FrameDecoder(limits: limits) }

    static func frames(_ bytes: [UInt8], pieces: [Int] = [], limits: HTTP2Limits = HTTP2Limits()) -> [WholeFrame] {
        var reading = FrameReading(limits: limits)
        var start = 0
        for end in pieces + [bytes.count] {
            reading.feed(Array(bytes[start..<end]))
            start = end
        }
        return reading.frames
    }

    mutating func feed(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { input in
            var position = 0
            while !hasFailed {
                do throws(HTTP2Error) {
                    guard let frame = try decoder.next(input, &position) else { return }
                    add(frame, input)
                } catch {
                    frames.append(.failure(error))
                    hasFailed = error.scope == .connection
                }
            }
        }
    }

    private mutating func add(_ frame: HTTP2Frame, _ input: UnsafeRawBufferPointer) {
        switch frame {
        case .data(let piece):
            let bytes = Array(input[piece.payload])
            guard piece.frameLength == nil, case .data(_, let before, let counted, let length, _) = frames.last else {
                return frames.append(
                    .data(
                        stream: piece.stream, bytes, flowControlled: piece.flowControlled,
                        frameLength: piece.frameLength ?? -1, endStream: piece.endStream))
            }
            frames[frames.count - 1] = .data(
                stream: piece.stream, before + bytes, flowControlled: counted + piece.flowControlled,
                frameLength: length, endStream: piece.endStream)
        case .headers(let stream, let endStream, let priority, let block):
            let bytes = decoder.withBytes(of: block, input: input) { Array($0) }
            frames.append(.block(stream, promised: nil, endStream: endStream, priority, bytes))
        case .pushPromise(let stream, let promised, let block):
            let bytes = decoder.withBytes(of: block, input: input) { Array($0) }
            frames.append(.block(stream, promised: promised, endStream: false, nil, bytes))
        case .priority, .resetStream, .settings, .settingsAcknowledgement, .ping, .goAway, .windowUpdate, .unknown:
            frames.append(.other(frame))
        }
    }
}
