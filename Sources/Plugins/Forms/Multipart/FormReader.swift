import Foundation
import Synchronization

/// Reads a body's segments in sequence. Used by one thread at a time.
final class FormReader {
    private var segments: ArraySlice<FormSegment>
    /// Reads the current segment.
    private var source: (read: ReadingStream.Reader, mayBlock: Bool)?
    private let transmission: FormTransmission

    init(_ segments: [FormSegment], _ transmission: FormTransmission) {
        self.segments = segments[...]
        self.transmission = transmission
    }

    /// Fills the buffer as far as possible without waiting for the program's code; returns 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        do {
            let count = try fill(buffer)
            if segments.isEmpty, source == nil { transmission.bodyWasReadToItsEnd() }
            return count
        } catch {
            transmission.bodyDidFail(error)
            throw error
        }
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var count = 0
        while count < buffer.count {
            if source == nil {
                guard let next = segments.popFirst() else { break }
                source = (try open(next), next.mayBlock)
            }
            guard let source, count == 0 || !source.mayBlock else { break }
            let read = try source.read(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            if read == 0 { self.source = nil }
            count += read
        }
        return count
    }

    private func open(_ segment: FormSegment) throws -> ReadingStream.Reader {
        switch segment {
        case .bytes(var data): return { data.move(into: $0) }
        case .file(let path, let size): return try FormFile(path: path, size: size).read
        case .stream(let part, let length, let make):
            return Self.counted(try StreamSource(part: part, make).read, part, length)
        case .pieces(let part, let length, let produce):
            let bridge = PieceBridge(produce)
            transmission.willWait(for: bridge)
            return Self.counted(PieceSource(part: part, bridge).read, part, length)
        }
    }

    /// Checks that a source delivers the expected number of bytes.
    private static func counted(
        _ read: @escaping ReadingStream.Reader, _ part: String, _ expected: Int64?
    ) -> ReadingStream.Reader {
        guard let expected else { return read }
        var found: Int64 = 0
        return { buffer in
            let count = try read(buffer)
            found += Int64(count)
            guard count > 0 ? found <= expected : found == expected else {
                throw MultipartFormError.wrongLength(part: part, expected: expected, found: found)
            }
            return count
        }
    }
}

/// The outcome of the streams of one upload. Used from any thread.
final class FormTransmission: Sendable {
    private struct State {
        var failure: MultipartFormError?
        var isComplete = false
        var isOver = false
        var bridge: PieceBridge?
    }

    private let state = Mutex(State())

    /// The error of a stream that failed, if there is one.
    var failure: MultipartFormError? { state.withLock { $0.failure } }

    /// Whether the complete body was delivered at least once.
    var isComplete: Bool { state.withLock { $0.isComplete } }

    func bodyWasReadToItsEnd() { state.withLock { $0.isComplete = true } }

    func bodyDidFail(_ error: any Error) {
        guard let error = error as? MultipartFormError else { return }
        state.withLock { if $0.failure == nil, !$0.isOver { $0.failure = error } }
    }

    /// A sequence is about to be read; an earlier one is not needed any longer.
    func willWait(for bridge: PieceBridge) {
        let unneeded = state.withLock { state -> PieceBridge? in
            defer { state.bridge = bridge }
            return state.isOver ? bridge : state.bridge
        }
        unneeded?.cancel()
    }

    /// The upload has ended: a thread that waits for a sequence stops waiting.
    func end() {
        let bridge = state.withLock { state in
            state.isOver = true
            return state.bridge.take()
        }
        bridge?.cancel()
    }
}
