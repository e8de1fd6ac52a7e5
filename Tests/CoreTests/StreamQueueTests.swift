import Foundation
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore

/// The delegates of a bound pair, which are called on a queue.
@Suite struct StreamQueueTests {
    private static let key = DispatchSpecificKey<String>()

    private final class Listener: NSObject, StreamDelegate {
        private let all = Guarded<[String]>([])

        /// The events since the last call, each with the queue's name.
        func take(on queue: DispatchQueue) -> [String] {
            queue.sync {}
            return all.withLock { events in
                defer { events = [] }
                return events
            }
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            let name =
                switch event {
                case .openCompleted: "open"
                case .hasBytesAvailable: "bytes"
                case .hasSpaceAvailable: "room"
                case .errorOccurred: "error"
                case .endEncountered: "end"
                default: "\(event.rawValue)"
                }
            let queue = DispatchQueue.getSpecific(key: StreamQueueTests.key) ?? "elsewhere"
            all.withLock { $0.append("\(queue): \(name)") }
        }
    }

    private struct Pair {
        let input: InputStream
        let output: OutputStream
        let reading = Listener()
        let writing = Listener()
        let queue = DispatchQueue(label: "pair")

        init?(capacity: Int) {
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: capacity, inputStream: &input, outputStream: &output)
            guard let input, let output else { return nil }
            (self.input, self.output) = (input, output)
            queue.setSpecific(key: StreamQueueTests.key, value: "pair")
            (input.delegate, output.delegate) = (reading, writing)
            CFReadStreamSetDispatchQueue(input as CFReadStream, queue)
            CFWriteStreamSetDispatchQueue(output as CFWriteStream, queue)
            input.open()
            output.open()
        }

        func read(_ count: Int) -> Int {
            var bytes = [UInt8](repeating: 0, count: count)
            return input.read(&bytes, maxLength: count)
        }

        func write(_ text: String) -> Int { output.write(Array(text.utf8), maxLength: text.utf8.count) }

        var events: (reading: [String], writing: [String]) { (reading.take(on: queue), writing.take(on: queue)) }
    }

    @Test func eachEndHearsWhatConcernsIt() throws {
        let pair = try #require(Pair(capacity: 3))
        #expect(pair.events == (["pair: open"], ["pair: open", "pair: room"]))
        #expect(pair.write("abcd") == 3)
        #expect(pair.events == (["pair: bytes"], []))
        #expect(pair.read(1) == 1)
        #expect(pair.events == (["pair: bytes"], ["pair: room"]))
        #expect(pair.read(9) == 2)
        #expect(pair.events == ([], ["pair: room"]))
        pair.output.close()
        #expect(pair.events == (["pair: end"], []))
    }

    /// A delegate that reads, or writes, at an event of bytes that were read before, or of room that was filled, would
    /// block its queue.
    @Test func anEventIsNotLateForItsBytesOrRoom() throws {
        let pair = try #require(Pair(capacity: 3))
        _ = pair.events
        pair.queue.suspend()
        #expect(pair.write("a") == 1 && pair.write("b") == 1)
        #expect(pair.read(9) == 2)
        pair.queue.resume()
        #expect(pair.events.reading == [])
        pair.queue.suspend()
        #expect(pair.write("abc") == 3)
        #expect(pair.read(1) == 1 && pair.read(1) == 1)
        #expect(pair.write("de") == 2)
        pair.queue.resume()
        #expect(pair.events.writing == [])
    }

    /// A delegate that is slower than its peer gets one event for all that has come meanwhile, not one for each piece.
    @Test(arguments: [false, true]) func oneEventWaitsAtMost(isQueueSetAgain: Bool) throws {
        let pair = try #require(Pair(capacity: 100))
        _ = pair.events
        pair.queue.suspend()
        for number in 0..<50 {
            if isQueueSetAgain, number == 25 {
                CFReadStreamSetDispatchQueue(pair.input, nil)
                CFWriteStreamSetDispatchQueue(pair.output, nil)
                CFReadStreamSetDispatchQueue(pair.input, pair.queue)
                CFWriteStreamSetDispatchQueue(pair.output, pair.queue)
            }
            #expect(pair.write("a") == 1)
        }
        pair.queue.resume()
        #expect(pair.events == (["pair: bytes"], ["pair: room"]))
        // A change after an event is reported as before.
        #expect(pair.write("a") == 1)
        #expect(pair.events == (["pair: bytes"], ["pair: room"]))
    }

    /// The same in a run loop, also where the stream is removed from it and scheduled again.
    @Test func oneReportOfReadinessWaitsForARunLoop() {
        let (schedule, loop, mode) = (StreamSchedule(), RunLoop.current, RunLoop.Mode(rawValue: "streams"))
        let reports = Recorder<String>()
        schedule.add(loop, mode)
        schedule.perform(isReadiness: true) {
            reports.append("first")
            // Readiness from the beginning of a report on is reported anew.
            schedule.perform(isReadiness: true) {
                reports.append("next")
                schedule.removeAll()
            }
        }
        schedule.perform(isReadiness: true) { reports.append("dropped") }
        schedule.perform { reports.append("error") }
        schedule.remove(loop, mode)
        schedule.add(loop, mode)
        schedule.perform(isReadiness: true) { reports.append("dropped") }
        // The loop ends when the schedule has removed its timer. The date is a net.
        _ = loop.run(mode: mode, before: Date(timeIntervalSinceNow: 60))
        #expect(reports.snapshot == ["first", "error", "next"])
    }

    @Test func aWriterHearsThatNobodyReads() throws {
        let pair = try #require(Pair(capacity: 3))
        _ = pair.events
        pair.input.close()
        #expect(pair.events == ([], ["pair: error"]))
        #expect(pair.output.streamStatus == .error && pair.output.streamError != nil)
        // After its own close it hears nothing, and has no error.
        pair.output.close()
        CFWriteStreamSetDispatchQueue(pair.output, pair.queue)
        #expect(pair.events == ([], []))
        #expect(pair.output.streamStatus == .closed && pair.output.streamError == nil)
    }

    /// A stream that is opened before it has a queue hears of its state when it gets one, and nothing without one.
    @Test func aQueueCanComeLaterAndGo() throws {
        let pair = try #require(Pair(capacity: 3))
        _ = pair.events
        CFReadStreamSetDispatchQueue(pair.input, nil)
        #expect(pair.write("ab") == 2)
        #expect(pair.events.reading == [])
        CFReadStreamSetDispatchQueue(pair.input, pair.queue)
        #expect(pair.events.reading == ["pair: bytes"])
    }

    @Test func otherStreamsAreLeftAlone() {
        let queue = DispatchQueue(label: "other")
        let (input, output) = (InputStream(data: Data("a".utf8)), OutputStream(toMemory: ()))
        CFReadStreamSetDispatchQueue(input, queue)
        CFWriteStreamSetDispatchQueue(output, queue)
        CFReadStreamSetDispatchQueue(nil, queue)
        input.open()
        #expect(input.hasBytesAvailable)
    }
}
