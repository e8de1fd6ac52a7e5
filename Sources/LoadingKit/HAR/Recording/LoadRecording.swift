import Foundation
import LoadingKitCore
import Synchronization

/// Records loads, and passes their notes on while they run.
package final class LoadRecording: LoadRecorder {
    /// A moment of a load.
    package enum Moment: Sendable {
        case began
        /// The head of a response has been received.
        case responded
        case ended
    }

    /// Number the loads of the process in the order of their starts.
    private static let numbers = Atomic<Int>(0)

    private let rules: HARRules
    private let work: OrderedWork
    private let observe: @Sendable (Moment, LoadNotes) -> Void

    /// - Parameters:
    ///   - work: the work in whose order files are read.
    ///   - observe: called on the session's event loop.
    package init(
        _ rules: HARRules, on work: OrderedWork, observe: @escaping @Sendable (Moment, LoadNotes) -> Void
    ) {
        (self.rules, self.work, self.observe) = (rules, work, observe)
    }

    package func load(
        _ request: URLRequest, _ resources: LoadResources, by make: @escaping (URLRequest) throws -> any LoopHandler
    ) throws -> any LoopHandler {
        guard rules.records(request) else { return try make(request) }
        let notes = LoadNotes(request, Self.makeNumber(), limit: rules.bodyLimit ?? 0, resources)
        if let file = request.bodyFile { read(file, into: notes.sentBody) }
        let load = RecordedLoad(resources, notes, observe: observe)
        try load.make(request, by: make)
        return load
    }

    package func record(
        _ metrics: URLSessionTaskMetrics, _ error: (any Error)?, ofTask task: Int, from firstURL: URL?,
        in session: SessionIdentity
    ) {
        guard let last = metrics.transactionMetrics.last, rules.records(last.request) else { return }
        let transactions = metrics.transactionMetrics.map(\.record)
        let notes = LoadNotes(
            Self.makeNumber(), last, transactions, error, session: session, task: task, firstURL: firstURL)
        observe(.ended, notes)
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
}

/// Makes the entries of loads that have ended, off the event loop.
final class EntryQueue: Sendable {
    /// The largest number of bytes of bodies and messages that wait for their entry. Beyond it only the sizes of bodies,
    /// and the number of messages, are recorded.
    private static let mostWaitingBytes = 64 << 20

    private let rules: HARRules
    private let now: @Sendable () -> Date
    private let work: OrderedWork
    private let keep: @Sendable (_ number: Int, [HAREntry]) -> Void
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

    /// The recording whose ended loads come into the queue.
    var recording: LoadRecording {
        LoadRecording(rules, on: work) { [self] moment, notes in if moment == .ended { add(notes) } }
    }

    private func add(_ notes: LoadNotes) {
        let size = notes.size
        var notes = notes
        if waitingBytes.wrappingAdd(size, ordering: .relaxed).newValue > Self.mostWaitingBytes { notes.omitBodies() }
        let anchor = notes.anchor ?? WallClockAnchor(date: now(), monotonicTime: notes.end)
        work.add { [self, notes] in
            keep(notes.number, EntryMaker(notes, rules, anchor).entries())
            waitingBytes.wrappingSubtract(size, ordering: .relaxed)
        }
    }
}
