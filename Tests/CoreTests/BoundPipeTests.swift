import Foundation
import Glibc
import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore

/// Reading a bound pair without a thread that waits.
@Suite struct BoundPipeTests {
    /// What readers were told, in order.
    private final class Told: Sendable {
        private let all = Guarded<[String]>([])

        var list: [String] { all.withLock { $0 } }

        func note(_ result: Result<Data?, any Error>) {
            let text =
                switch result {
                case .success(let data): data.map { String(decoding: $0, as: UTF8.self) } ?? "end"
                case .failure: "failure"
                }
            all.withLock { $0.append(text) }
        }
    }

    private func write(_ text: String, _ pipe: BoundPipe) -> Int {
        Array(text.utf8).withUnsafeBufferPointer { pipe.write($0) }
    }

    @Test func aReaderIsToldInTheWritersThread() {
        let (pipe, told) = (BoundPipe(capacity: 4), Told())
        #expect(write("abcdef", pipe) == 4)
        pipe.read(atMost: 3) { told.note($0) }
        #expect(told.list == ["abc"])
        pipe.read(atMost: 3) { told.note($0) }
        #expect(told.list == ["abc", "d"])
        pipe.read(atMost: 9) { told.note($0) }
        #expect(told.list == ["abc", "d"])
        // What waits for it takes no room.
        #expect(write("efghij", pipe) == 4 && pipe.room == 4)
        #expect(told.list == ["abc", "d", "efgh"])
        pipe.read(atMost: 9) { told.note($0) }
        pipe.close(.writing)
        pipe.read(atMost: 9) { told.note($0) }
        #expect(told.list == ["abc", "d", "efgh", "end", "end"])
    }

    /// Of bytes that come one by one the reader is told once, of all that are there then.
    @Test func singleBytesAreAnnouncedTogether() {
        let (pipe, told) = (BoundPipe(capacity: 3), Told())
        pipe.read(atMost: 9) { told.note($0) }
        let results = Array("abc".utf8).map { pipe.collect($0) }
        #expect(results.map { $0.isFirst } == [true, false, false])
        #expect(results.map { $0.hasRoom } == [true, true, false])
        #expect(told.list.isEmpty)
        pipe.announce()
        #expect(told.list == ["abc"])
        let next = pipe.collect(UInt8(ascii: "d"))
        #expect(next.isFirst && next.hasRoom)
        // A reader that comes back gets them without being told.
        pipe.read(atMost: 9) { told.note($0) }
        #expect(told.list == ["abc", "d"])
        pipe.announce()
        pipe.close(.reading)
        let last = pipe.collect(UInt8(ascii: "e"))
        #expect(!last.isFirst && !last.hasRoom && pipe.storedCount == 0)
    }

    @Test func aReaderHearsOfEachEnd() {
        for bytes in ["", "ab"] {
            let (failed, closed) = (BoundPipe(capacity: 4), BoundPipe(capacity: 4))
            let (told, toldOfClosed) = (Told(), Told())
            if !bytes.isEmpty {
                #expect(write(bytes, failed) == 2)
                failed.read(atMost: 9) { told.note($0) }
            }
            failed.read(atMost: 9) { told.note($0) }
            failed.fail(CocoaError(.fileReadUnknown))
            #expect(told.list == (bytes.isEmpty ? [] : [bytes]) + ["failure"])
            closed.read(atMost: 9) { toldOfClosed.note($0) }
            if !bytes.isEmpty {
                #expect(write(bytes, closed) == 2)
                #expect(toldOfClosed.list == [bytes])
                closed.read(atMost: 9) { toldOfClosed.note($0) }
            }
            // What is lost is not the end, also where the writer has ended.
            closed.close(.reading)
            closed.close(.writing)
            closed.read(atMost: 9) { toldOfClosed.note($0) }
            #expect(toldOfClosed.list == (bytes.isEmpty ? [] : [bytes]) + ["failure", "failure"])
        }
    }

    /// A writer is told when there is room again, and not when there is none yet.
    @Test func theWriterIsToldOfRoomAlone() {
        let pipe = BoundPipe(capacity: 2)
        let rooms = Guarded(0)
        pipe.observe(.writing) { rooms.withLock { $0 += 1 } }
        pipe.read(atMost: 1) { _ in }
        #expect(rooms.withLock { $0 } == 0)
        #expect(write("a", pipe) == 1)
        #expect(rooms.withLock { $0 } == 1)
        #expect(write("bc", pipe) == 2)
        #expect(rooms.withLock { $0 } == 1)
        pipe.read(atMost: 1) { _ in }
        #expect(rooms.withLock { $0 } == 2)
    }

    /// Bytes that were taken leave the memory also where the writer is always ahead of the reader.
    @Test(arguments: [false, true]) func aBufferThatIsNeverEmptyStaysSmall(putsPieces: Bool) {
        let (capacity, pieceSize) = (4, 3)
        let pipe = BoundPipe(capacity: capacity)
        var (written, largest) = (0, 0)
        var taken: [UInt8] = []
        while taken.count < 10_000 {
            while pipe.hasRoom {
                let piece = (written..<written + pieceSize).map { UInt8(truncatingIfNeeded: $0) }
                if putsPieces {
                    piece.withUnsafeBytes { pipe.put($0) }
                    written += pieceSize
                } else {
                    written += piece.withUnsafeBufferPointer { pipe.write($0) }
                }
            }
            largest = max(largest, pipe.storedCount)
            taken += pipe.take(atMost: 1)
        }
        #expect(taken == (0..<10_000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(largest <= 2 * (putsPieces ? capacity + pieceSize : capacity))
    }

    /// The input end takes what it is told of its own pair's end, and its writer learns that nobody reads.
    @Test func aBodyReaderReadsABoundPair() {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: 3, inputStream: &input, outputStream: &output)
        guard let input, let output else {
            Issue.record("no pair")
            return
        }
        let (reader, told) = (BodyStreamReader(input), Told())
        output.open()
        reader.read { told.note($0) }
        #expect(told.list == [])
        #expect(output.write(Array("hello".utf8), maxLength: 5) == 3)
        #expect(told.list == ["hel"])
        reader.read { told.note($0) }
        output.close()
        #expect(told.list == ["hel", "end"])
        #expect(input.streamStatus == .closed)
        // A closed stream is as a closed stream of Foundation's: it does not look like an empty one.
        let ordinary = InputStream(data: Data())
        ordinary.open()
        ordinary.close()
        var bytes = [UInt8](repeating: 0, count: 9)
        for closed in [input, ordinary] { #expect(closed.read(&bytes, maxLength: 9) == -1) }
        BodyStreamReader(input).read { told.note($0) }
        #expect(told.list == ["hel", "end", "failure"])
    }

    /// A stream whose reads may block. A caller that reads again in its handler gets the next piece on the same thread.
    /// Later reads use other threads.
    @Test func aBodyReaderReadsAnotherStream() async throws {
        let body = Data((0..<2 * ChunkPool.chunkBytes + 70_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let reader = BodyStreamReader(InputStream(data: body))
        let (beginning, isSameThread) = try await withUnsafeThrowingContinuation {
            (continuation: UnsafeContinuation<(Data, Bool), any Error>) in
            reader.read { first in
                let thread = pthread_self()
                reader.read { second in
                    let isSame = pthread_equal(thread, pthread_self()) != 0
                    let result = Result { () throws -> (Data, Bool) in
                        let pieces = try [first.get(), second.get()]
                        return (pieces.reduce(Data()) { $0 + ($1 ?? Data()) }, isSame)
                    }
                    continuation.resume(with: result)
                }
            }
        }
        #expect(isSameThread)
        var (received, rests) = (beginning, 0)
        while let piece = try await reader.read() {
            received += piece
            rests += 1
        }
        #expect(rests > 0)
        let isWhole = received == body
        #expect(isWhole)
    }

    /// A stream such as one that records another's bytes.
    private final class Passing: InputStream, ForwardingBodyStream {
        let source: InputStream
        let text = Guarded("")

        init(_ source: InputStream) {
            self.source = source
            super.init(data: Data())
        }

        func didRead(_ bytes: Data) { text.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
    }

    /// Streams that forward a bound pair see its bytes. No thread waits for them. The writer is told when the reader
    /// gives up.
    @Test func aBodyReaderReadsABoundPairInsideOthers() {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: 9, inputStream: &input, outputStream: &output)
        guard let input, let output else {
            Issue.record("no pair")
            return
        }
        let inner = Passing(input)
        let outer = Passing(inner)
        let (reader, told) = (BodyStreamReader(outer), Told())
        output.open()
        reader.read { told.note($0) }
        #expect(output.write(Array("hello".utf8), maxLength: 5) == 5)
        #expect(told.list == ["hello"])
        for passing in [inner, outer] { #expect(passing.text.withLock { $0 } == "hello") }
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.httpBodyStream = outer
        #expect(request.withStreamOfProgram.httpBodyStream === input)
        reader.abandon()
        #expect(input.streamStatus == .closed)
        #expect(output.write(Array("hello".utf8), maxLength: 5) == -1)
    }

    /// Also where it is closed behind that, and where bytes were not read yet.
    @Test func aWriterThatFailsIsNotAtTheEnd() {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: 9, inputStream: &input, outputStream: &output)
        guard let input, let output else {
            Issue.record("no pair")
            return
        }
        let (reader, told) = (BodyStreamReader(input), Told())
        output.open()
        #expect(output.write(Array("hello".utf8), maxLength: 5) == 5)
        output.close(throwing: CocoaError(.fileReadCorruptFile))
        output.close()
        #expect(output.streamStatus == .closed)
        #expect(output.write(Array("hello".utf8), maxLength: 5) == -1)
        reader.read { told.note($0) }
        reader.read { told.note($0) }
        #expect(told.list == ["hello", "failure"])
    }
}
