import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
import Synchronization

/// Reads a body's segments in sequence, without those of asynchronous sequences. Used by one thread at a time.
final class FormReader {
    private var segments: ArraySlice<FormSegment>
    /// Reads the current segment.
    private var source: (read: ReadingStream.Reader, mayBlock: Bool)?
    private let failure: FormFailure

    private init(_ segments: ArraySlice<FormSegment>, _ failure: FormFailure) {
        (self.segments, self.failure) = (segments, failure)
    }

    static func stream(_ segments: ArraySlice<FormSegment>, _ failure: FormFailure) -> InputStream {
        let reader = FormReader(segments, failure)
        return ReadingStream { { try reader.read(into: $0) } }
    }

    /// Fills the buffer as far as possible without waiting for the program's code; returns 0 at the end.
    private func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        do { return try fill(buffer) } catch {
            failure.note(error)
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
            let source = try StreamSource(part: part, make)
            var found = PartLength(part, length)
            return { buffer in
                let count = try source.read(into: buffer)
                try found.add(count, isAtEnd: count == 0)
                return count
            }
        case .pieces: return { _ in 0 }  // FormWriter writes these
        }
    }
}

/// Writes a body that has asynchronous sequences. While one of them has no piece, no thread waits.
enum FormWriter {
    static func stream(_ segments: [FormSegment], _ failure: FormFailure) -> InputStream {
        URLRequest.bodyStream { writer in
            do { try await write(segments[...], to: writer, failure) } catch {
                if !Task.isCancelled { failure.note(error) }
                throw error
            }
        }
    }

    private static func write(
        _ segments: ArraySlice<FormSegment>, to writer: BodyWriter, _ failure: FormFailure
    ) async throws {
        var rest = segments
        while let segment = rest.popFirst() {
            if case .pieces(let part, let length, let produce) = segment {
                try await write(part, length, produce, to: writer)
            } else {
                let stream = FormReader.stream([segment], failure)
                do { try await writer.write(contentsOf: stream) } catch { throw stream.streamError ?? error }
            }
        }
    }

    private static func write(
        _ part: String, _ length: Int64?, _ produce: FormSegment.Producer, to writer: BodyWriter
    ) async throws {
        let found = Mutex(PartLength(part, length))
        do {
            try await produce { piece in
                try found.withLock { found throws(MultipartFormError) in try found.add(piece.count, isAtEnd: false) }
                if piece.isEmpty { try Task.checkCancellation() } else { try await writer.write(piece) }
            }
        } catch {
            if let excess = found.withLock({ $0.excess }) { throw excess }
            throw MultipartFormError.sourceFailed(part: part, reason: String(describing: error))
        }
        try found.withLock { found throws(MultipartFormError) in try found.add(0, isAtEnd: true) }
    }
}

/// Checks that a source delivers the expected number of bytes.
private struct PartLength {
    private let part: String
    private let expected: Int64?
    private var found: Int64 = 0
    /// The error where there were too many.
    private(set) var excess: MultipartFormError?

    init(_ part: String, _ expected: Int64?) { (self.part, self.expected) = (part, expected) }

    mutating func add(_ count: Int, isAtEnd: Bool) throws(MultipartFormError) {
        found += Int64(count)
        guard let expected, found > expected || isAtEnd && found < expected else { return }
        let error = MultipartFormError.wrongLength(part: part, expected: expected, found: found)
        if found > expected { excess = error }
        throw error
    }
}

/// The first error of the streams of one upload. Used from any thread.
final class FormFailure: Sendable {
    private let first = Mutex<MultipartFormError?>(nil)

    var error: MultipartFormError? { first.withLock { $0 } }

    func note(_ error: any Error) {
        guard let error = error as? MultipartFormError else { return }
        first.withLock { $0 = $0 ?? error }
    }
}
