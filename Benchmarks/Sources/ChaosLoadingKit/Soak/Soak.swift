import Foundation
import LoadingKit

/// Makes random loads of every kind in many sessions, and prints a line of samples each minute and a report at the end.
struct Soak {
    /// One load of so many is followed by a session's end.
    private static let loadsPerSessionEnd = 500
    /// The time between two samples, in seconds.
    private static let sampleTime = 5.0
    private static let samplesPerLine = 12

    let plan: SoakPlan
    private let ledger = SoakLedger()

    init(_ plan: SoakPlan) { self.plan = plan }

    func run() async {
        let before = SoakProcess()
        let sessions = SoakSessions(plan)
        let end = ContinuousClock.now + .seconds(plan.minutes * 60)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<plan.workerCount {
                group.addTask { await self.work(SoakLoads(worker, plan, ledger), sessions, until: end) }
            }
            group.addTask { await self.sample(until: end) }
        }
        sessions.endAll()
        for _ in 0..<100 where sessions.livingCount > 0 { try? await Task.sleep(for: .seconds(0.1)) }
        if sessions.livingCount > 0 { ledger.note(fault: "\(sessions.livingCount) sessions do not end") }
        // Memory goes back to the system some seconds after the last session is gone.
        try? await Task.sleep(for: .seconds(10))
        var report = ledger.report
        report["before"] = SoakProcess.medians([before])
        report["after"] = SoakProcess.medians([SoakProcess()])
        printLine(report)
    }

    private func work(_ loads: SoakLoads, _ sessions: SoakSessions, until end: ContinuousClock.Instant) async {
        var loads = loads
        while ContinuousClock.now < end {
            let index = loads.pick(plan.sessionCount)
            await loads.loadOnce(in: sessions.session(index))
            if loads.pick(Self.loadsPerSessionEnd) == 0 {
                sessions.replace(loads.pick(plan.sessionCount), cancelling: loads.pick(2) == 0)
            }
            if plan.pause > 0 { try? await Task.sleep(for: .milliseconds(loads.pick(plan.pause))) }
        }
    }

    private func sample(until end: ContinuousClock.Instant) async {
        var (samples, minute) = ([SoakProcess](), 0)
        while ContinuousClock.now < end {
            try? await Task.sleep(for: .seconds(Self.sampleTime))
            samples.append(SoakProcess())
            ledger.findHanging()
            guard samples.count == Self.samplesPerLine else { continue }
            minute += 1
            var line: [String: Any] = SoakProcess.medians(samples)
            (line["minute"], line["loads"], line["faults"]) = (minute, ledger.count, ledger.faults)
            printLine(line)
            samples = []
        }
    }
}
