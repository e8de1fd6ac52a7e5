import Dispatch
import LoadingKitPrimitives

/// Files from which a value is read.
protocol FileSource: Sendable {
    associatedtype Value: AnyObject & Sendable

    /// Changes when a file is written, replaced, added or removed.
    var version: Int { get }

    /// - Returns: The value, and the files and the folders that were read.
    func read() throws(TransportError) -> (value: Value, places: Set<String>)
}

/// The rules for checks of files. A check takes some microseconds for a file, and some hundred for the system's folder
/// of authorities.
enum FileChecks {
    /// The time from one check to the next, in nanoseconds.
    static let interval: UInt64 = 5_000_000_000
    /// The longest time for which connections wait for a check, from its beginning. The files may be on a network file
    /// system whose server is away: the check goes on then, and the last value is used until it has ended.
    static let patience = DispatchTimeInterval.milliseconds(20)
    /// The same for a check that the program has asked for, which decides about the next connection.
    static let patienceIfAsked = DispatchTimeInterval.seconds(2)
    /// Threads of their own, as such a check may take for ever.
    static let threads = BlockingPool(name: "LoadingKit-check", BlockingPool.Limits(threads: 4))
}

/// A value that was read from files, and is read again if the files have changed.
///
/// A file that is just being written may be unreadable, or missing. The value that was read before is then kept until a
/// later check finds readable files. If others of the source's files can be read, and nothing has changed from one check
/// to the next, these are all that there is.
///
/// The source is no parameter of the type. The first use of a type with a parameter that must conform to a protocol looks
/// through all of the program's conformances, and the first use of this type is on the way of a process's first load.
final class FollowedFiles<Value: AnyObject & Sendable>: Sendable {
    private struct State {
        var value: Value
        var version: Int
        /// The file and the folders that were read.
        var places: Set<String>
        var nextCheck: MonotonicTime
        /// The version of files that were not used, as some of them could not be read.
        var refusedVersion: Int?
        /// Whether the program has asked for a check that has not begun.
        var isAsked = false
        /// The check that has begun and not ended, and the time until which connections wait for it.
        var check: (group: DispatchGroup, deadline: DispatchTime)?
    }

    private let version: @Sendable () -> Int
    private let read: @Sendable () throws(TransportError) -> (value: Value, places: Set<String>)
    private let patience: DispatchTimeInterval
    private let state: Guarded<State>

    init<Source: FileSource>(
        _ source: Source, _ now: MonotonicTime, patience: DispatchTimeInterval
    ) throws(TransportError) where Source.Value == Value {
        version = { source.version }
        read = { () throws(TransportError) in try source.read() }
        self.patience = patience
        // Found before the files are read, so that a later change is noticed.
        let version = source.version
        let (value, places) = try source.read()
        let next = now.advanced(byNanoseconds: FileChecks.interval)
        state = Guarded(State(value: value, version: version, places: places, nextCheck: next))
    }

    /// The value after a check, if one is due.
    func value(_ now: MonotonicTime) -> Value {
        let (check, begins) = state.withLock { state in
            guard state.isAsked || (state.check == nil && now >= state.nextCheck) else { return (state.check, false) }
            let patience = state.isAsked ? FileChecks.patienceIfAsked : patience
            let check = (group: DispatchGroup(), deadline: DispatchTime.now() + patience)
            check.group.enter()
            (state.check, state.isAsked) = (check, false)
            state.nextCheck = now.advanced(byNanoseconds: FileChecks.interval)
            return (check, true)
        }
        if let check {
            if begins { begin(check.group) }
            _ = check.group.wait(timeout: check.deadline)
        }
        return state.withLock { $0.value }
    }

    /// The next use checks the files, however recent the last check is.
    func checkAtNextUse() { state.withLock { $0.isAsked = true } }

    private func begin(_ check: DispatchGroup) {
        FileChecks.threads.run { [self] in
            update()
            state.withLock { if $0.check?.group === check { $0.check = nil } }
            check.leave()
        }
    }

    private func update() {
        let version = version()
        let (known, places, refused) = state.withLock { ($0.version, $0.places, $0.refusedVersion) }
        let new = version == known ? nil : try? read()
        state.withLock { state in
            guard version != known else { return }
            guard let new, places.isSubset(of: new.places) || version == refused else {
                return state.refusedVersion = version
            }
            (state.value, state.version, state.places, state.refusedVersion) = (new.value, version, new.places, nil)
        }
    }
}
