import CSimulatedSystem
import Foundation
import LoadingKitPrimitives

/// The truth about one store of a program, over all of its processes: a file to which nothing happens.
final class StoreNotes: Sendable {
    /// The things in a store: what each is like, by its name. No name or value has a space.
    typealias Contents = [String: String]
    /// The things that a change makes what they are; nil where it removes one.
    typealias Change = [String: String?]

    private struct State {
        /// The contents that a process has found at its beginning, and those after each change since. Before them are those of
        /// processes that were killed, which a loss of power may bring back.
        var history: [Contents] = [[:]]
        /// The index of what the process has found.
        var beginning = 0
        /// The index of the contents that were on disk when a flush returned.
        var flushed = 0
        var isUncertain = false

        mutating func apply(_ words: [String]) {
            let values = words.dropFirst(2).compactMap { Self.value($0) }
            switch words[1] {
            case "change":
                let old = history[history.count - 1]
                history.append(old.merging(values) { $1 }.filter { !$0.value.isEmpty })
            case "flushed": flushed = words.count > 2 ? Int(words[2]) ?? 0 : 0
            case "uncertain": isUncertain = true
            case "again":
                history = history[flushed...] + [Contents(values) { $1 }]
                (beginning, flushed, isUncertain) = (history.count - 1, 0, false)
            default: (history, beginning, flushed, isUncertain) = ([Contents(values) { $1 }], 0, 0, false)
            }
        }

        private static func value(_ word: String) -> (String, String)? {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
    }

    let store: String
    /// The time of the last line, in nanoseconds.
    let lastTime: UInt64
    private let descriptor: Int32
    private let state: Guarded<State>
    private let followsKill: Bool

    /// Read before the simulation begins.
    init(_ store: String, _ process: SeedProcess) {
        let path = process.folder.appendingPathComponent("notes-\(store)").path
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        var (state, time) = (State(), UInt64(0))
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            time = UInt64(words[0]) ?? 0
            state.apply(words)
        }
        (self.store, followsKill) = (store, process.followsKill)
        lastTime = time
        self.state = Guarded(state)
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    deinit { close(descriptor) }

    private func add(_ words: [String]) {
        let line = ["\(sim_time())"] + words
        sim_note(descriptor, line.joined(separator: " ") + "\n")
        sim_trace("\(store): \(words.joined(separator: " "))")
        state.withLock { $0.apply(line) }
    }

    private static func words(_ values: Change) -> [String] {
        values.map { "\($0.key)=\($0.value ?? "")" }.sorted()
    }

    // MARK: Events

    /// This process loses the power in its end, or its calls of files fail.
    func becomeUncertain() { add(["uncertain"]) }

    /// The program is about to make a change.
    func willChange(_ change: Change) { add(["change"] + Self.words(change)) }

    /// A flush that began after this number of changes has returned.
    func didFlush(_ count: Int) { add(["flushed", "\(count)"]) }

    /// A process has found these contents at its beginning.
    func didFind(_ contents: Contents) { add([followsKill ? "again" : "found"] + Self.words(contents)) }

    // MARK: Truth

    /// The number of changes up to now.
    var changeCount: Int { state.withLock { $0.history.count - 1 } }

    /// The contents after all changes.
    var contents: Contents { state.withLock { $0.history[$0.history.count - 1] } }

    /// What is wrong with the contents that a process finds at its beginning; nil where nothing is. Changes reach the disk in
    /// their order, and those that were flushed have.
    ///
    /// - Parameter isCertain: Whether this is so where the power is lost or calls fail. Otherwise each thing may be gone then, or
    ///   be as it was at any time of the process.
    func fault(in found: Contents, isCertain: Bool) -> String? {
        state.withLock { state in
            if state.isUncertain, !isCertain {
                let wrong = found.filter { name, value in !state.history.contains { $0[name] == value } }
                return wrong.isEmpty ? nil : "it has \(Self.words(wrong.mapValues { $0 })), which was never so"
            }
            // Nothing that reached a file is lost by a kill.
            let first = state.isUncertain ? state.flushed : max(state.flushed, state.beginning)
            if state.history[first...].contains(found) { return nil }
            let flushed = state.history[first]
            return
                "it has \(Self.words(found.mapValues { $0 })), and of \(state.history.count - 1) changes \(first) "
                + "were flushed: \(Self.words(flushed.mapValues { $0 }))"
        }
    }
}
