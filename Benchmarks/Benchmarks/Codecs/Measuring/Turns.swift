import Benchmark
import Figures
import Glibc

/// The turns that the contenders of a comparison take, each after the other, so that what else the machine does falls
/// on all.
final class Turns {
    private let contenders: [Contender]
    /// How much one piece of work is, in what the unit counts.
    private let amount: Double
    /// How often the work is done in one turn.
    private var repetitions = 1
    /// Nanoseconds for each contender and turn.
    private(set) var times: [[Double]]

    /// Long enough for the clock, short enough for all contenders to be in the same moment.
    private static let turn = 100_000.0

    init(_ contenders: [Contender], amount: Double) {
        self.contenders = contenders
        self.amount = amount
        times = contenders.map { _ in [] }
    }

    /// Throws unless all contenders come to the same result.
    func check() throws {
        let results = try contenders.map { try $0.work() }
        for (contender, result) in zip(contenders, results) where result != results.first {
            let first = results.first.map(String.init) ?? "nothing"
            throw Disagreement(
                "\(contender.implementation) gives \(result), but \(contenders[0].implementation) \(first)")
        }
    }

    /// Finds out how often the work has to be done in a turn, which warms up.
    func calibrate() throws {
        for contender in contenders {
            while try time(contender) < Self.turn, repetitions < 1 << 20 { repetitions *= 2 }
        }
        for _ in 0..<20 { for contender in contenders { _ = try time(contender) } }
    }

    /// One turn of each; gives their times for what the unit counts.
    func take() throws -> [Double] {
        let turn = try contenders.map { try time($0) / Double(repetitions) / amount }
        for (index, time) in turn.enumerated() { times[index].append(time) }
        return turn
    }

    private func time(_ contender: Contender) throws -> Double {
        let work = contender.work
        var sum = 0
        let start = Self.now
        for _ in 0..<repetitions { sum &+= try work() }
        let end = Self.now
        blackHole(sum)
        return max(1, end - start)
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
