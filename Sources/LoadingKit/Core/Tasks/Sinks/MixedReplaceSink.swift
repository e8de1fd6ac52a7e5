import Foundation
import LoadingKitPrimitives

extension TaskSink {
    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink {
        MixedReplaceSink(self, response, reader)
    }
}

/// Divides a response of the type `multipart/x-mixed-replace` into parts, for another sink: each part has its own
/// response, and replaces the part before it.
final class MixedReplaceSink: TaskSink {
    /// The largest number of parts in a row. A few bytes can be a part.
    static let partsInARow = 32
    /// The numbers of bytes of parts' heads, and of fields of their responses, behind which no further part follows in
    /// a row.
    private static let headBytesInARow = 16 << 10
    private static let fieldsInARow = 4096

    private var base: any TaskSink
    private var response: URLResponse
    /// Nil once a response of another type has replaced the first one.
    @exclusivity(unchecked) private var reader: MixedReplaceReader?
    /// Whether everything was received, and the other sink was not informed yet.
    private var awaitsEnd = false

    init(_ base: any TaskSink, _ response: URLResponse, _ reader: MixedReplaceReader) {
        self.base = base
        self.response = response
        self.reader = reader
    }

    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink {
        base.split(response, by: reader)
    }

    func replaced(by sink: any TaskSink) -> any TaskSink {
        if let reader, !reader.hasBytes, !awaitsEnd { return sink.split(response, by: reader) }
        base = base.replaced(by: sink)
        return self
    }

    // MARK: Receiving

    func receive(_ response: URLResponse, isPart: Bool, for engine: any SinkEngine) -> SinkAction {
        if response !== self.response { reader = nil }
        return base.receive(response, isPart: reader != nil, for: engine)
    }

    func receive(_ bytes: UnsafeRawBufferPointer, for engine: any SinkEngine) -> SinkAction {
        guard reader != nil else { return base.receive(bytes, for: engine) }
        reader?.append(bytes)
        return handOver(to: engine)
    }

    func receive(_ data: Data, for engine: any SinkEngine) -> SinkAction {
        guard reader != nil else { return base.receive(data, for: engine) }
        return data.withUnsafeBytes { receive($0, for: engine) }
    }

    func buffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        reader == nil ? base.buffer(atMost: count) : nil
    }

    func bufferWasFilled(_ count: Int, for engine: any SinkEngine) -> SinkAction {
        base.bufferWasFilled(count, for: engine)
    }

    func holdDidEnd(for engine: any SinkEngine) -> SinkAction { proceed(engine) }

    func finish(for engine: any SinkEngine) -> SinkAction {
        reader?.finish()
        awaitsEnd = true
        return proceed(engine)
    }

    private func proceed(_ engine: any SinkEngine) -> SinkAction {
        engine.perform(handOver(to: engine))
        if engine.canDeliver { engine.perform(base.holdDidEnd(for: engine)) }
        guard engine.canDeliver, awaitsEnd else { return .proceed }
        awaitsEnd = false
        return base.finish(for: engine)
    }

    /// Delivers parts until there are no more, or the consumer has no room, or sockets and timers have their turn.
    private func handOver(to engine: any SinkEngine) -> SinkAction {
        var (parts, headBytes, fieldCount) = (0, 0, 0)
        do {
            while engine.canDeliver {
                guard parts < Self.partsInARow, headBytes < Self.headBytesInARow, fieldCount < Self.fieldsInARow else {
                    engine.loop.executeInNextTurn { [weak engine] in engine?.release(.parts) }
                    return .hold(.parts)
                }
                guard let event = try reader?.next() else { break }
                switch event {
                case .part(let fields):
                    parts += 1
                    headBytes += reader?.headBytes ?? 0
                    engine.perform(base.partDidEnd(for: engine))
                    let part = response.part(fields)
                    fieldCount += (part as? HTTPURLResponse)?.fields.count ?? 0
                    engine.note(part)
                    engine.perform(base.receive(part, isPart: true, for: engine))
                case .data(let data): engine.perform(base.receive(data, for: engine))
                }
            }
            return .proceed
        } catch {
            return .fail(error)
        }
    }

    // MARK: Events for the other sink

    func flush(for engine: any SinkEngine) -> SinkAction { base.flush(for: engine) }

    func turnDidEnd(for engine: any SinkEngine) -> SinkAction { base.turnDidEnd(for: engine) }

    func willCache(
        _ response: CachedURLResponse, for engine: any SinkEngine,
        decide: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        base.willCache(response, for: engine, decide: decide)
    }

    func loadDidStop(_ engine: any SinkEngine) -> SinkAction { base.loadDidStop(engine) }

    func settle(_ error: any Error, for engine: any SinkEngine, _ report: @escaping (any Error) -> Void) {
        base.settle(error, for: engine, report)
    }

    func reportEnd(_ error: (any Error)?, for engine: any SinkEngine) { base.reportEnd(error, for: engine) }
}

extension MixedReplaceReader {
    /// Nil for responses of other types.
    init?(of response: URLResponse) {
        guard let fields = (response as? HTTPURLResponse)?.fields else { return nil }
        var isMultipart = false
        // Most responses have another type, which can be detected without making a string.
        fields.forEachValue(of: .contentType) {
            if $0.first.map({ $0 | 0x20 }) == UInt8(ascii: "m") { isMultipart = true }
        }
        guard isMultipart else { return nil }
        self.init(fields[.contentType])
    }
}
