import LoadingKitCore
import LoadingKitTransport

/// The commands of a session that were not yet performed, as far as it is known: what is sent again to the next daemon.
struct UnansweredCommands {
    typealias Completion = @Sendable ((any Error)?) -> Void

    struct Entry {
        let command: TransferCommand
        let descriptors: [OwnedDescriptor]
        let completion: Completion
    }

    private var entries: [UInt64: Entry] = [:]
    private var nextNumber: UInt64 = 1

    mutating func append(_ entry: Entry) -> UInt64 {
        defer { nextNumber += 1 }
        entries[nextNumber] = entry
        return nextNumber
    }

    /// Nil where it was answered before.
    mutating func remove(_ number: UInt64) -> Entry? { entries.removeValue(forKey: number) }

    /// In the order in which they were given.
    var all: [(number: UInt64, entry: Entry)] {
        entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    mutating func removeAll() -> [Entry] {
        defer { entries = [:] }
        return all.map(\.entry)
    }
}
