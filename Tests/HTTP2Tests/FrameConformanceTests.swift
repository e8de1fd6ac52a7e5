import Foundation
import LoadingKitHTTP2
import TestSupport
import Testing

/// The frames of http2-frame-test-case: decoded, compared, encoded again, compared.
@Suite(.requires(.frames)) struct FrameConformanceTests {
    struct Case: Decodable {
        struct Frame: Decodable {
            var length: Int
            var type: UInt8
            var flags: UInt8
            var stream_identifier: UInt32
            var frame_payload: Payload
        }
        struct Payload: Decodable {
            var data, header_block_fragment, additional_debug_data, opaque_data, padding: String?
            var padding_length: Int?
            var stream_dependency, error_code, promised_stream_id, window_size_increment, last_stream_id: UInt32?
            var weight: Int?
            var exclusive, priority: Bool?
            var settings: [[UInt32]]?
        }
        var wire: String
        var frame: Frame?
        var error: [UInt32]?
        var description: String
    }

    static func cases() throws -> [(name: String, Case)] {
        let folder = ConformanceTable.frames.url
        let names = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        return try names.filter { $0.hasSuffix(".json") }.sorted().map { name in
            (name, try JSONDecoder().decode(Case.self, from: Data(contentsOf: folder.appending(path: name))))
        }
    }

    @Test func everyCase() throws {
        let cases = try Self.cases()
        #expect(cases.count == 34, "the conformance data has changed")
        for (name, item) in cases {
            var wire = Bytes.hex(item.wire)
            let prefix = name.hasPrefix("continuation") ? Self.opening(item) : []
            let frames = FrameReading.frames(prefix + wire)
            if let codes = item.error {
                guard case .failure(let error)? = frames.last else {
                    Issue.record("\(name) was accepted: \(frames)")
                    continue
                }
                #expect(codes.contains(error.code.rawValue), "\(name): \(error)")
            }
            guard let frame = item.frame else { continue }
            #expect(frames == [Self.expected(frame)].compactMap { $0 }, "\(name)")
            // Padding is written as zeros, as §6.1 asks.
            let padding = frame.frame_payload.padding_length ?? 0
            wire.replaceSubrange(wire.count - padding..<wire.count, with: repeatElement(0, count: padding))
            #expect(Self.encoded(frame) == wire, "\(name)")
        }
    }

    /// The HEADERS frame that a lone CONTINUATION frame needs before it.
    private static func opening(_ item: Case) -> [UInt8] {
        Bytes.frame(type: 1, stream: item.frame?.stream_identifier ?? 1, [])
    }

    private static func priority(_ payload: Case.Payload) -> HTTP2Priority? {
        guard let dependency = payload.stream_dependency, let weight = payload.weight else { return nil }
        return HTTP2Priority(
            dependency: HTTP2StreamID(rawValue: dependency), isExclusive: payload.exclusive ?? false, weight: weight)
    }

    private static func opaque(_ payload: Case.Payload) -> UInt64 {
        (payload.opaque_data ?? "").utf8.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func settings(_ payload: Case.Payload) -> [HTTP2Setting] {
        (payload.settings ?? []).map { HTTP2Setting(.init(rawValue: UInt16($0[0])), $0[1]) }
    }

    /// The expected result of the decoder; nil if the frame does not complete a header block.
    private static func expected(_ frame: Case.Frame) -> WholeFrame? {
        let payload = frame.frame_payload
        let stream = HTTP2StreamID(rawValue: frame.stream_identifier)
        let block = Array((payload.header_block_fragment ?? "").utf8)
        switch frame.type {
        case 0:
            return .data(
                stream: stream, Array((payload.data ?? "").utf8), flowControlled: frame.length,
                frameLength: frame.length, endStream: frame.flags & 1 != 0)
        case 1, 5, 9:
            guard frame.flags & 4 != 0 else { return nil }
            return .block(
                stream, promised: payload.promised_stream_id.map { HTTP2StreamID(rawValue: $0) },
                endStream: frame.type == 1 && frame.flags & 1 != 0, priority(payload), block)
        case 2: return priority(payload).map { .other(.priority(stream: stream, $0)) }
        case 3: return .other(.resetStream(stream: stream, .init(rawValue: payload.error_code ?? .max)))
        case 4: return .other(.settings(settings(payload)))
        case 6: return .other(.ping(opaque(payload), isAcknowledgement: frame.flags & 1 != 0))
        case 7:
            return .other(
                .goAway(
                    lastStream: .init(rawValue: payload.last_stream_id ?? 0),
                    .init(rawValue: payload.error_code ?? .max),
                    debugData: Array((payload.additional_debug_data ?? "").utf8)))
        case 8: return .other(.windowUpdate(stream: stream, increment: payload.window_size_increment ?? 0))
        default: return nil
        }
    }

    private static func encoded(_ frame: Case.Frame) -> [UInt8] {
        let payload = frame.frame_payload
        let stream = HTTP2StreamID(rawValue: frame.stream_identifier)
        let padding = payload.padding_length.map { UInt8($0) }
        let block = Array((payload.header_block_fragment ?? payload.data ?? "").utf8)
        let endStream = frame.flags & 1 != 0
        return Bytes.written { output in
            block.withUnsafeBytes { block in
                switch frame.type {
                case 0:
                    HTTP2FrameEncoder.data(
                        block, stream: stream, endStream: endStream, padding: padding, to: &output)
                case 1:
                    HTTP2FrameEncoder.headers(
                        block, stream: stream, endStream: endStream, priority: priority(payload), padding: padding,
                        to: &output)
                case 2:
                    if let priority = priority(payload) {
                        HTTP2FrameEncoder.priority(priority, stream: stream, to: &output)
                    }
                case 3:
                    HTTP2FrameEncoder.resetStream(stream, .init(rawValue: payload.error_code ?? 0), to: &output)
                case 4: HTTP2FrameEncoder.settings(settings(payload), to: &output)
                case 5:
                    HTTP2FrameEncoder.pushPromise(
                        block, promised: .init(rawValue: payload.promised_stream_id ?? 0), stream: stream,
                        padding: padding, to: &output)
                case 6: HTTP2FrameEncoder.ping(opaque(payload), isAcknowledgement: endStream, to: &output)
                case 7:
                    HTTP2FrameEncoder.goAway(
                        lastStream: .init(rawValue: payload.last_stream_id ?? 0),
                        .init(rawValue: payload.error_code ?? 0),
                        debugData: Array((payload.additional_debug_data ?? "").utf8), to: &output)
                case 8:
                    HTTP2FrameEncoder.windowUpdate(
                        stream, increment: payload.window_size_increment ?? 0, to: &output)
                default:
                    HTTP2FrameEncoder.continuation(
                        block, stream: stream, endHeaders: frame.flags & 4 != 0, to: &output)
                }
            }
        }
    }
}
