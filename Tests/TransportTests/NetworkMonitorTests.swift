import Glibc
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// What reports changes of the networks.
@Suite struct NetworkMonitorTests {
    private final class Observed: @unchecked Sendable {  // used on the loop alone
        let monitor: NetworkMonitor
        let observer: NetworkMonitor.Observer

        init(_ loop: EventLoop, _ changed: @escaping () -> Void) {
            monitor = NetworkMonitor.of(loop)
            observer = monitor.observe(changed)
        }
    }

    /// The socket is opened later, and a change reported, as one may have been missed. Nothing is tried for an observer
    /// that has been cancelled.
    @Test(arguments: [true, false]) func theProcessHasNoDescriptorLeft(isCancelled: Bool) async throws {
        let time = ManualTime()
        try await withLoop(.manual(time)) { loop in
            let (plan, changes) = (FaultPlan(.socket, .nth(1), .fail(EMFILE)), Recorder<Int>())
            let observed = await loop.run { plan.run { Observed(loop) { changes.append(1) } } }
            #expect(await loop.run { observed.monitor.reportsChanges } == false)
            time.advance(by: .seconds(4))
            #expect(await loop.run { observed.monitor.reportsChanges } == false)
            if isCancelled { await loop.run { observed.observer.cancel() } }
            time.advance(by: .seconds(2))
            if !isCancelled { try await withTimeout { _ = await changes.count(reaches: 1) } }
            #expect(await loop.run { observed.monitor.reportsChanges } == !isCancelled)
            #expect(await loop.run { observed.monitor.changeCount > 0 } == !isCancelled)
        }
    }

    /// Where the system forbids it, it is not tried again.
    @Test func theSystemForbidsIt() async {
        let time = ManualTime()
        await withLoop(.manual(time)) { loop in
            let plan = FaultPlan(.socket, .nth(1), .fail(EACCES))
            let observed = await loop.run { plan.run { Observed(loop) {} } }
            time.advance(by: .seconds(60))
            #expect(await loop.run { observed.monitor.reportsChanges } == false)
        }
    }
}
