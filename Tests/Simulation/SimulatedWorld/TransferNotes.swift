import CSimulatedSystem
import Foundation
import LoadingKitPrimitives

/// A transfer of a background session. Its task's description names it.
struct Transfer: Hashable, Sendable {
    let number: Int
    let isUpload: Bool
    let resource: Resource

    init(_ number: Int, isUpload: Bool, _ resource: Resource) {
        (self.number, self.isUpload, self.resource) = (number, isUpload, resource)
    }

    init?(name: String) {
        let words = name.split(separator: " ")
        guard words.count == 3, let number = Int(words[0]), let resource = Resource(path: words[2]) else { return nil }
        self.init(number, isUpload: words[1] == "PUT", resource)
    }

    var name: String { "\(number) \(isUpload ? "PUT" : "GET") \(resource.path)" }

    static func == (one: Transfer, other: Transfer) -> Bool { one.number == other.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// What a program knows of its transfers, over all of its processes: a file to which nothing happens.
final class TransferNotes: Sendable {
    enum Event: String {
        /// The call of `resume()` has returned.
        case begun
        /// The program has cancelled it.
        case cancelled
        /// The delegate has got the file.
        case file
        case ended
    }

    private struct State {
        var events: [Transfer: Set<Event>] = [:]
        /// The transfers whose end came in this process.
        var endedNow: Set<Transfer> = []
    }

    /// The time of the last event, in nanoseconds.
    let lastTime: UInt64
    private let descriptor: Int32
    private let state: Guarded<State>

    /// Read before the simulation begins.
    init(path: String) {
        var (state, time) = (State(), UInt64(0))
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count == 3, let event = Event(rawValue: words[1]), let transfer = Transfer(name: words[2])
            else {
                continue
            }
            time = max(time, UInt64(words[0]) ?? 0)
            state.events[transfer, default: []].insert(event)
        }
        lastTime = time
        self.state = Guarded(state)
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    deinit { close(descriptor) }

    func add(_ event: Event, _ transfer: Transfer) {
        let line = "\(sim_time()) \(event.rawValue) \(transfer.name)\n"
        sim_note(descriptor, line)
        sim_trace("\(event.rawValue) \(transfer.name)")
        state.withLock { state in
            state.events[transfer, default: []].insert(event)
            if event == .ended { state.endedNow.insert(transfer) }
        }
    }

    func has(_ event: Event, _ transfer: Transfer) -> Bool {
        state.withLock { $0.events[transfer]?.contains(event) ?? false }
    }

    func hasEndedNow(_ transfer: Transfer) -> Bool { state.withLock { $0.endedNow.contains(transfer) } }

    /// The transfers that have begun, and have to end.
    var pending: [Transfer] {
        state.withLock { state in
            state.events.filter { $0.value == [.begun] || $0.value == [.begun, .file] }.map(\.key)
        }.sorted { $0.number < $1.number }
    }
}
