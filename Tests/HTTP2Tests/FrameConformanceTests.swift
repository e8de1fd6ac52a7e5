import Foundation
import LoadingKitHTTP2
import TestSupport
import Testing

/// The shared frames: each decodes to what is said of it and encodes back to its bytes, or is an error of a given code.
@Suite struct FrameConformanceTests {
    struct Case: Decodable {
        struct Frame: Decodable {
            struct Payload: Decodable {
                var data, padding, header_block_fragment, opaque_data, additional_debug_data: String?
                var stream_dependency, weight, error_code, last_stream_id, window_size_increment: Int?
                var promised_stream_id: Int?
                var exclusive: Bool?
                var settings: [[Int]]?
            }

            var type, flags, stream_identifier, length: Int
            var frame_payload: Payload
        }

        var description, wire: String
        var error: [Int]?
        var frame: Frame?

        var bytes: [UInt8] {
            let digits = Array(wire)
            return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            }
        }
    }

    static func cases() throws -> [(String, Case)] {
        let folder = Conformance.url("http2/frames")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return try (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "json" }.map {
            ($0.lastPathComponent, try JSONDecoder().decode(Case.self, from: Data(contentsOf: $0)))
        }
    }

    /// What a frame is, as text and as its bytes; one that is only part of a header block is followed by its end.
    private func decode(_ bytes: [UInt8]) throws -> [HTTP2Frame] {
        var decoder = HTTP2FrameDecoder()
        var frames: [HTTP2Frame] = []
        try bytes.withUnsafeBytes { input in
            var position = 0
            while let frame = try decoder.next(input, &position) { frames.append(frame) }
        }
        return frames
    }

    @Test func all() throws {
        let cases = try Self.cases()
        #expect(cases.count == 34)
        for (name, test) in cases {
            if let codes = test.error {
                let error = #expect(throws: HTTP2Error.self, "\(name)") { try decode(test.bytes) }
                #expect(codes.contains(Int(error?.code.rawValue ?? .max)), "\(name): \(error.map { "\($0)" } ?? "")")
                continue
            }
            let frame = try #require(test.frame)
            var bytes = test.bytes
            // CONTINUATION alone is an error; here it goes on with an empty HEADERS.
            if frame.type == 9 { bytes = [0, 0, 0, 1, 0] + bytes[5..<9] + bytes }
            let isOpen = [1, 5, 9].contains(frame.type) && frame.flags & 4 == 0
            if isOpen {
                HTTP2FrameWriter.continuation(
                    stream: UInt32(frame.stream_identifier), block: [], endHeaders: true, into: &bytes)
            }
            let frames = try decode(bytes)
            #expect(frames.count == 1, "\(name)")
            let written = try #require(frames.first.map { encode($0, as: frame, from: bytes) }, "\(name)")
            #expect(written == test.bytes, "\(name)")
        }
    }

    /// Writes what was decoded, with what only the case says: padding and flags.
    private func encode(_ decoded: HTTP2Frame, as expected: Case.Frame, from bytes: [UInt8]) -> [UInt8] {
        var decoder = HTTP2FrameDecoder()
        let payload = expected.frame_payload
        let padding = payload.padding.map { Array($0.utf8) }
        var output: [UInt8] = []
        func text(_ part: HTTP2Frame.Bytes) -> [UInt8] {
            bytes.withUnsafeBytes { input in
                var position = 0
                _ = try? decoder.next(input, &position)
                return decoder.withBytes(part, of: input) { Array($0) }
            }
        }
        switch decoded {
        case .data(let stream, let range, let counted, let isFirst, let isLast, let endStream):
            #expect(isFirst && isLast && counted == expected.length)
            #expect(Array(bytes[range]) == Array((payload.data ?? "").utf8))
            HTTP2FrameWriter.data(
                stream: stream, count: range.count, endStream: endStream, padding: padding?.count, into: &output)
            output += bytes[range] + (padding ?? [])
        case .headers(let stream, let block, let endStream, let dependency) where expected.type == 1:
            #expect(text(block) == Array((payload.header_block_fragment ?? "").utf8))
            #expect(dependency?.stream == payload.stream_dependency.map { UInt32($0) })
            HTTP2FrameWriter.headers(
                stream: stream, block: text(block), endStream: endStream, dependency: dependency, padding: padding,
                into: &output)
        case .headers(let stream, let block, _, _):
            HTTP2FrameWriter.continuation(
                stream: stream, block: text(block), endHeaders: expected.flags & 4 != 0, into: &output)
        case .priority(let stream, let dependency):
            #expect(Int(dependency.stream) == payload.stream_dependency && dependency.weight == payload.weight)
            #expect(dependency.isExclusive == payload.exclusive)
            HTTP2FrameWriter.priority(stream: stream, dependency, into: &output)
        case .reset(let stream, let code):
            #expect(Int(code.rawValue) == payload.error_code)
            HTTP2FrameWriter.reset(stream: stream, code, into: &output)
        case .settings(let settings):
            #expect(settings.map { [Int($0.identifier), Int($0.value)] } == payload.settings)
            HTTP2FrameWriter.settings(settings, into: &output)
        case .settingsAcknowledgement:
            HTTP2FrameWriter.settingsAcknowledgement(into: &output)
        case .pushPromise(let stream, let promised, let block):
            #expect(Int(promised) == payload.promised_stream_id)
            HTTP2FrameWriter.pushPromise(
                stream: stream, promised: promised, block: text(block), padding: padding, into: &output)
        case .ping(let value, let isAcknowledgement):
            HTTP2FrameWriter.ping(value, isAcknowledgement: isAcknowledgement, into: &output)
        case .goAway(let last, let code, let debugData):
            #expect(Int(last) == payload.last_stream_id && Int(code.rawValue) == payload.error_code)
            HTTP2FrameWriter.goAway(lastStream: last, code, debugData: text(debugData), into: &output)
        case .windowUpdate(let stream, let increment):
            #expect(increment == payload.window_size_increment)
            HTTP2FrameWriter.windowUpdate(stream: stream, increment: increment, into: &output)
        case .unknown: break
        }
        return output
    }
}
