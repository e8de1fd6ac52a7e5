import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import Synchronization

/// Records loads, and passes the entry or entries of each load on when it has ended. Entries are made off the event
/// loop.
package final class LoadRecording: LoadRecorder {
    /// The largest number of bytes of bodies that wait for their entry. Beyond it only the sizes of bodies are recorded.
    private static let mostWaitingBytes = 64 << 20

    /// Number the loads of the process in the order of their starts.
    private static let numbers = Atomic<Int>(0)

    private let rules: HARRules
    private let now: @Sendable () -> Date
    private let keep: @Sendable (_ number: Int, [HAREntry]) -> Void
    private let work: OrderedWork
    private let waitingBytes = Atomic<Int>(0)

    /// - Parameters:
    ///   - now: the source of the time.
    ///   - work: the work in whose order entries are made and kept.
    ///   - keep: gets the load's position in the order of their starts, and its entries.
    init(
        _ rules: HARRules, now: @escaping @Sendable () -> Date = { Date() }, on work: OrderedWork,
        keep: @escaping @Sendable (_ number: Int, [HAREntry]) -> Void
    ) {
        (self.rules, self.now, self.work, self.keep) = (rules, now, work, keep)
    }

    package func load(
        _ request: URLRequest, _ resources: LoadResources, by make: (URLRequest) throws -> any LoopHandler
    ) throws -> any LoopHandler {
        guard rules.records(request) else { return try make(request) }
        let notes = LoadNotes(request, Self.makeNumber(), limit: rules.bodyLimit ?? 0, start: resources.loop.now)
        if let file = request.bodyFile { read(file, into: notes.sentBody) }
        let load = RecordedLoad(resources, notes) { [self] in finish($0) }
        try load.make(request, by: make)
        return load
    }

    package func record(_ metrics: URLSessionTaskMetrics, _ error: (any Error)?) {
        guard let last = metrics.transactionMetrics.last, rules.records(last.request) else { return }
        let notes = LoadNotes(Self.makeNumber(), last, metrics.transactionMetrics.map(\.record), error)
        work.add { [self] in keep(notes.number, EntryMaker(notes, rules, last.anchor).entries()) }
    }

    package func flush(_ done: @escaping @Sendable () -> Void) { work.add(done) }

    private static func makeNumber() -> Int { numbers.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// Reads a file that is a request's body. The program may remove it after the load.
    private func read(_ file: BodyFile, into body: RecordedBody) {
        work.add { [rules] in
            let size = Int(clamping: file.size ?? 0)
            guard size <= rules.bodyLimit ?? 0, let handle = try? FileHandle(forReadingFrom: file.url) else {
                return body.skip(size)
            }
            try? handle.seek(toOffset: UInt64(clamping: file.start))
            body.take((try? handle.read(upToCount: size)) ?? Data())
        }
    }

    private func finish(_ notes: LoadNotes) {
        let size = notes.size
        if waitingBytes.wrappingAdd(size, ordering: .relaxed).newValue > Self.mostWaitingBytes {
            notes.sentBody.omit()
            notes.receivedBody.omit()
        }
        let anchor = WallClockAnchor(date: now(), monotonicTime: notes.end)
        work.add { [self] in
            keep(notes.number, EntryMaker(notes, rules, anchor).entries())
            waitingBytes.wrappingSubtract(size, ordering: .relaxed)
        }
    }
}
