import Foundation

/// Standard output for simultaneous loads: the bytes of each load stay together, in the order of the arguments.
///
/// The current load writes at once; the other loads' bytes wait here for their turn.
final class OrderedOutput: @unchecked Sendable {  // used only on the transfers' queue
    private struct Waiting {
        var pieces: [Data] = []
        var count = 0
        var isFinished = false
        var whenTurnComes: (() -> Void)?
    }

    private let descriptor: Int32
    private var order: ArraySlice<Int>
    private var waiting: [Int: Waiting] = [:]
    private var failure: ToolFailure?
    /// Whether nothing is written yet, or the last written byte ended a line.
    private(set) var isAtLineStart = true

    init(_ descriptor: Int32, _ order: [Int]) {
        self.descriptor = descriptor
        self.order = order[...]
    }

    /// Writes for a load. Returns the number of its bytes that now wait for its turn.
    func write(_ data: Data, for load: Int) throws(ToolFailure) -> Int {
        if load == order.first {
            try send(data)
            return 0
        }
        waiting[load, default: Waiting()].pieces.append(data)
        waiting[load, default: Waiting()].count += data.count
        return waiting[load]?.count ?? 0
    }

    /// Calls `call` once, when the load's next bytes are written at once.
    func whenTurnComes(for load: Int, _ call: @escaping () -> Void) {
        waiting[load, default: Waiting()].whenTurnComes = call
    }

    /// The load writes no more; it is the next load's turn, also where the waiting bytes cannot be written.
    func finish(_ load: Int) throws(ToolFailure) {
        guard load == order.first else {
            waiting[load, default: Waiting()].isFinished = true
            return
        }
        var (turn, loss): (Waiting?, ToolFailure?)
        repeat {
            order.removeFirst()
            turn = order.first.flatMap { waiting.removeValue(forKey: $0) }
            do throws(ToolFailure) {
                for piece in turn?.pieces ?? [] { try send(piece) }
            } catch {
                loss = error
            }
            turn?.whenTurnComes?()
        } while turn?.isFinished == true
        if let loss { throw loss }
    }

    private func send(_ data: Data) throws(ToolFailure) {
        if let failure { throw failure }
        guard let last = data.last else { return }
        isAtLineStart = last == UInt8(ascii: "\n")
        guard let code = writeAll(data, to: descriptor) else { return }
        let failure = ToolFailure.writing("standard output", code)
        self.failure = failure
        throw failure
    }
}

extension ToolFailure {
    /// Where the reader has closed the pipe, no message is printed.
    static func writing(_ name: String, _ code: Int32) -> ToolFailure {
        let reason = code == EPIPE ? nil : "\(name) cannot be written: \(String(cString: strerror(code)))"
        return ToolFailure(.writeError, reason)
    }
}
