import Foundation
import Synchronization

/// Which system calls of one thread are to fail, for tests.
///
/// While no plan is installed anywhere, it costs the reading of one flag a call.
package struct FaultPlan: Sendable {
    package enum Call: Sendable, CaseIterable {
        case socket, connect, receive, send, epollCreate, eventCreate, epollControl, open, read
    }

    package enum Fault: Sendable {
        /// The call fails with this `errno`.
        case error(Int32)
        /// The call transfers at most so many bytes.
        case short(Int)
    }

    private struct Rule {
        let call: Call
        let range: ClosedRange<Int>
        let fault: Fault
    }

    private var rules: [Rule] = []
    private var counts: [Call: Int] = [:]

    package init() {}

    /// Makes the calls with these numbers, counted from 1 since the plan was installed, fail.
    package mutating func add(_ call: Call, _ numbers: ClosedRange<Int>, _ fault: Fault) {
        rules.append(Rule(call: call, range: numbers, fault: fault))
    }

    // MARK: Plans by thread

    private static let activeCount = Atomic<Int>(0)
    private static let plans = Mutex<[UInt: FaultPlan]>([:])

    @inline(__always)
    static var isAnyActive: Bool { activeCount.load(ordering: .relaxed) != 0 }

    /// Installs a plan for the calling thread, which replaces an earlier one.
    package static func install(_ plan: FaultPlan) {
        let isNew = plans.withLock { $0.updateValue(plan, forKey: UInt(pthread_self())) == nil }
        if isNew { activeCount.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Takes the calling thread's plan away; does nothing when it has none.
    package static func remove() {
        let wasThere = plans.withLock { $0.removeValue(forKey: UInt(pthread_self())) != nil }
        if wasThere { activeCount.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Counts a call, and says whether it is to fail.
    static func nextError(of call: Call) -> Int32? {
        plans.withLock { plans in
            guard plans[UInt(pthread_self())] != nil else { return nil }
            return plans[UInt(pthread_self())]?.countError(call)
        }
    }

    /// How many bytes the call that comes next may transfer.
    static func limit(of call: Call, _ wanted: Int) -> Int {
        plans.withLock { plans in plans[UInt(pthread_self())]?.limit(call, wanted) ?? wanted }
    }

    private mutating func countError(_ call: Call) -> Int32? {
        let number = counts[call, default: 0] + 1
        counts[call] = number
        for rule in rules where rule.call == call && rule.range.contains(number) {
            if case .error(let code) = rule.fault { return code }
        }
        return nil
    }

    private func limit(_ call: Call, _ wanted: Int) -> Int {
        let number = counts[call, default: 0] + 1
        for rule in rules where rule.call == call && rule.range.contains(number) {
            if case .short(let count) = rule.fault { return min(count, wanted) }
        }
        return wanted
    }
}
