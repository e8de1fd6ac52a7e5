import Foundation
import LoadingKit
import LoadingKitPrimitives

/// The reading end of a pair of bound streams, at whose other end a thread with a run loop writes.
final class BoundBody: @unchecked Sendable {  // `input` is taken once; the rest is the thread's
    private let input: Guarded<InputStream?>
    private let writer: Writer

    private init(_ writer: Writer) {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: 4096, inputStream: &input, outputStream: &output)
        self.input = Guarded(Carried(input).stream)
        self.writer = writer
        writer.output = output
        Thread.detachNewThread { writer.run() }
    }

    /// These bytes, and the end.
    static func sending(_ body: Data) -> BoundBody { BoundBody(Writer(body, repeats: false, onEnd: {})) }

    /// These bytes, and then an error, though the writer closes its stream in any case.
    static func failing(after body: Data) -> BoundBody {
        BoundBody(Writer(body, repeats: false, error: CocoaError(.fileReadCorruptFile), onEnd: {}))
    }

    /// The same bytes for ever; `onBreak` is called when nobody reads them any more.
    static func endless(_ onBreak: @escaping @Sendable () -> Void) -> BoundBody {
        BoundBody(Writer(Data(count: 10_000), repeats: true, onEnd: onBreak))
    }

    func take() -> InputStream? { input.withLock { Carried($0.take()) }.stream }

    private struct Carried: @unchecked Sendable {  // handed from one thread to the next
        let stream: InputStream?
        init(_ stream: InputStream?) { self.stream = stream }
    }

    private final class Writer: NSObject, StreamDelegate, @unchecked Sendable {  // of its thread alone
        var output: OutputStream?
        private let body: Data
        private let repeats: Bool
        /// Why not all can be written.
        private let error: (any Error)?
        private let onEnd: @Sendable () -> Void
        private var rest: Data
        private var isOver = false

        init(_ body: Data, repeats: Bool, error: (any Error)? = nil, onEnd: @escaping @Sendable () -> Void) {
            self.body = body
            self.error = error
            self.repeats = repeats
            self.onEnd = onEnd
            rest = body
        }

        func run() {
            output?.delegate = self
            output?.schedule(in: .current, forMode: .default)
            output?.open()
            while !isOver { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            switch event {
            case .hasSpaceAvailable where !isOver: write()
            case .errorOccurred where !isOver: end()
            default: break
            }
        }

        private func write() {
            let count = rest.withUnsafeBytes { bytes -> Int in
                guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                return output?.write(base, maxLength: bytes.count) ?? -1
            }
            guard count >= 0 else { return end() }
            rest = rest.dropFirst(count)
            guard rest.isEmpty else { return }
            if repeats { rest = body } else { end() }
        }

        private func end() {
            isOver = true
            defer { output?.close() }
            if let error { output?.close(throwing: error) }
            onEnd()
        }
    }
}
