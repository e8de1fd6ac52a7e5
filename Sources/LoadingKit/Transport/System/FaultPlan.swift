import CLoadingKitShims
import LoadingKitPrimitives

/// The failures that a test injects: the n-th call with a system call's name fails, or transfers fewer bytes than it
/// could.
///
/// A plan belongs to the threads to which it is attached, so that tests running in parallel do not affect each other.
/// Work that such a thread submits to the ``BlockingPool`` carries the plan with it.
package final class FaultPlan: Sendable {
    package enum Fault: Sendable, Equatable {
        /// The call is not made, and fails with this `errno`.
        case fail(Int32)
        /// The call is made for at most this number of bytes.
        case short(Int)
        /// The call is not made, and reports that all of its bytes were transferred.
        case skip
    }

    /// The calls that are affected.
    package enum Occurrence: Sendable {
        /// The n-th call of the name since the plan was made, counted from one.
        case nth(Int)
        /// The n-th call and all later ones.
        case from(Int)
    }

    package struct Entry: Sendable {
        let name: SystemCalls.Name
        let occurrence: Occurrence
        let fault: Fault

        package init(_ name: SystemCalls.Name, _ occurrence: Occurrence, _ fault: Fault) {
            self.name = name
            self.occurrence = occurrence
            self.fault = fault
        }
    }

    private struct State {
        var counts: [SystemCalls.Name: Int] = [:]
        var injected = 0
    }

    private let entries: [Entry]
    private let state = Guarded(State())

    package init(_ entries: [Entry]) { self.entries = entries }

    package convenience init(_ name: SystemCalls.Name, _ occurrence: Occurrence, _ fault: Fault) {
        self.init([Entry(name, occurrence, fault)])
    }

    /// The number of calls of `name` that were made under this plan.
    package func count(of name: SystemCalls.Name) -> Int { state.withLock { $0.counts[name] ?? 0 } }

    /// The number of calls whose result this plan has changed.
    package var injectedCount: Int { state.withLock { $0.injected } }

    /// Counts a call of `name`, and returns the fault to inject.
    func next(_ name: SystemCalls.Name) -> Fault? {
        state.withLock { state in
            let count = (state.counts[name] ?? 0) + 1
            state.counts[name] = count
            let entry = entries.first { entry in
                guard entry.name == name else { return false }
                switch entry.occurrence {
                case .nth(let n): return n == count
                case .from(let n): return n <= count
                }
            }
            if entry != nil { state.injected += 1 }
            return entry?.fault
        }
    }

    /// Runs `body` on this thread with the plan attached to it.
    package func run<T>(_ body: () throws -> T) rethrows -> T {
        let before = lk_thread_fault_plan()
        lk_set_thread_fault_plan(Unmanaged.passUnretained(self).toOpaque())
        defer { lk_set_thread_fault_plan(before) }
        return try withExtendedLifetime(self) { try body() }
    }

    package static var current: FaultPlan? {
        lk_thread_fault_plan().map { Unmanaged<FaultPlan>.fromOpaque($0).takeUnretainedValue() }
    }
}
