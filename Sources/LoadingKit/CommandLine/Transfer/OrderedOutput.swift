import Foundation

/// Standard output for several loads at once: each one's bytes stay together, in the order of the arguments.
///
/// The load whose turn it is writes at once; what the others write waits here until theirs comes.
final class OrderedOutput: @unchecked Sendable {  // used on the transfers' queue alone
    private struct Waiting {
        var pieces: [Data] = []
        var count = 0
        var isFinished = false
        var whenTurnComes: (() -> Void)?
    }

    private let writer: DescriptorWriter
    private var order: ArraySlice<Int>
    private var waiting: [Int: Waiting] = [:]
    private var failure: ToolFailure?
    /// Whether nothing is written yet, or the last byte that was written ended a line.
    private(set) var isAtLineStart = true

    init(_ descriptor: Int32, _ order: [Int]) {
        writer = DescriptorWriter(descriptor)
        self.order = order[...]
    }

    /// Writes for a load. Gives how many of its bytes wait for its turn now.
    func write(_ data: Data, for load: Int) throws(ToolFailure) -> Int {
        if load == order.first {
            try send(data)
            return 0
        }
        waiting[load, default: Waiting()].pieces.append(data)
        waiting[load, default: Waiting()].count += data.count
        return waiting[load]?.count ?? 0
    }

    /// Calls back once, when what the load writes next is written at once.
    func whenTurnComes(for load: Int, _ call: @escaping () -> Void) {
        waiting[load, default: Waiting()].whenTurnComes = call
    }

    /// The load writes no more; the next one's turn comes.
    func finish(_ load: Int) throws(ToolFailure) {
        guard load == order.first else {
            waiting[load, default: Waiting()].isFinished = true
            return
        }
        repeat {
            order.removeFirst()
        } while try startTurn()
    }

    /// Writes what has waited for the turn that begins. True where that was all of it.
    private func startTurn() throws(ToolFailure) -> Bool {
        guard let load = order.first, let turn = waiting.removeValue(forKey: load) else { return false }
        defer { turn.whenTurnComes?() }
        for piece in turn.pieces { try send(piece) }
        return turn.isFinished
    }

    private func send(_ data: Data) throws(ToolFailure) {
        if let failure { throw failure }
        guard let last = data.last else { return }
        isAtLineStart = last == UInt8(ascii: "\n")
        guard let code = writer.write(data) else { return }
        let failure = ToolFailure.writing("standard output", code)
        self.failure = failure
        throw failure
    }
}

extension ToolFailure {
    /// Where the reader has gone, no message is printed.
    static func writing(_ name: String, _ code: Int32) -> ToolFailure {
        let reason = code == EPIPE ? nil : "\(name) cannot be written: \(String(cString: strerror(code)))"
        return ToolFailure(.writeError, reason)
    }
}
