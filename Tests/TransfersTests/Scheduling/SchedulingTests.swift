import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

@Suite("When transfers start")
struct SchedulingTests {
    private func key(_ session: Int64, _ identifier: Int) -> TransferKey {
        TransferKey(session: session, identifier: identifier)
    }

    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: 0).advanced(bySeconds: seconds) }

    @Test("the highest priority first, then the oldest, up to the limits")
    func queue() {
        var queue = TransferQueue(TransferQueue.Limits(perSession: 2, inAll: 3))
        queue.insert(key(1, 1), priority: 0.5)
        queue.insert(key(1, 2), priority: 1)
        queue.insert(key(1, 3), priority: 0.5)
        queue.insert(key(2, 1), priority: 0.25)
        queue.insert(key(2, 2), priority: 0.1)
        #expect(queue.popNext() == key(1, 2))
        #expect(queue.popNext() == key(1, 1))
        #expect(queue.popNext() == key(2, 1))
        #expect(queue.popNext() == nil)
        queue.didStop(key(2, 1))
        #expect(queue.popNext() == key(2, 2))
        queue.didStop(key(1, 2))
        #expect(queue.popNext() == key(1, 3))
        #expect(queue.started == 3)
        for key in [key(1, 1), key(1, 3), key(2, 2)] { queue.didStop(key) }
        #expect(queue.started == 0 && queue.popNext() == nil)
    }

    @Test("among equals what is expected to be small, then the oldest")
    func sizes() throws {
        var queue = TransferQueue()
        queue.insert(key(1, 1), priority: 0.5)
        queue.insert(key(1, 2), priority: 0.5, expectedBytes: TransferQueue.smallSize + 1)
        queue.insert(key(2, 3), priority: 0.5, expectedBytes: TransferQueue.smallSize)
        queue.insert(key(1, 4), priority: 0.5, expectedBytes: 0)
        queue.insert(key(1, 5), priority: 0.6)
        queue.insert(key(1, 6), priority: 0.1, expectedBytes: 5)
        queue.change(key(1, 6), priority: 0.5)
        let order = (0..<6).compactMap { _ in queue.popNext()?.identifier }
        #expect(order == [5, 3, 4, 6, 1, 2])
        let url = try #require(URL(string: "http://h.example/"))
        let request = try #require(TransferRequest(URLRequest(url: url)))
        let sums: [(sent: Int64, received: Int64, expected: Int64?)] = [
            (-1, -1, nil), (5, -1, 5), (-1, 0, 0), (2, 3, 5), (.max, 3, .max),
        ]
        for (sent, received, expected) in sums {
            var record = TransferRecord(identifier: 1, kind: .upload, request: request)
            (record.clientExpectsToSend, record.clientExpectsToReceive) = (sent, received)
            #expect(record.expectedBytes == expected)
        }
    }

    @Test("transfers that wait for a network do not count, up to a limit, and count again when they go on")
    func waits() {
        var queue = TransferQueue(TransferQueue.Limits(perSession: 1, inAll: 2, waitingForNetwork: 2))
        for identifier in 1...6 { queue.insert(key(1, identifier), priority: 0.5) }
        for identifier in 1...2 {
            #expect(queue.popNext() == key(1, identifier) && queue.popNext() == nil)
            for _ in 0..<2 { queue.didBeginWait(key(1, identifier)) }
            #expect(queue.started == 0)
        }
        #expect(queue.popNext() == key(1, 3))
        queue.didBeginWait(key(1, 3))
        #expect(queue.started == 1 && queue.popNext() == nil)
        // The third takes the first's place among those that do not count.
        for _ in 0..<2 { queue.didEndWait(key(1, 1)) }
        #expect(queue.started == 1)
        queue.didStop(key(1, 3))
        #expect(queue.started == 1 && queue.popNext() == nil)
        queue.didStop(key(1, 2))
        #expect(queue.started == 1)
        queue.didStop(key(1, 1))
        #expect(queue.started == 0 && queue.popNext() == key(1, 4))
        queue.didEndWait(key(1, 4))
        #expect(queue.started == 1)
    }

    @Test("what waits is taken out, changed and held")
    func changes() {
        var queue = TransferQueue()
        for identifier in 1...3 { queue.insert(key(1, identifier), priority: 0.5) }
        queue.remove(key(1, 1))
        queue.remove(key(1, 9))
        queue.change(key(1, 3), priority: 0.75)
        queue.hold(1, true)
        #expect(queue.popNext() == nil && queue.hasWaiting(1))
        queue.hold(1, false)
        #expect(queue.popNext() == key(1, 3))
        #expect(queue.popNext() == key(1, 2))
        #expect(!queue.hasWaiting(1))
    }

    @Test("pauses double up to a bound")
    func pauses() {
        var pause = DoublingPause(from: 1, to: 300)
        let expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] as [Double]
        #expect(expected.map { _ in pause.next() } == expected)
        pause.reset()
        #expect(pause.next() == 1)
    }

    @Test("the time of a transfer is the monotonic clock's within a process, and the wall clock's across processes")
    func clock() {
        let day = Date(timeIntervalSince1970: 1_800_000_000)
        let fresh = ResourceClock(elapsed: 5, asOf: day, wall: day.addingTimeInterval(10), now: at(100))
        #expect(fresh.elapsed(at(101)) == 16)
        #expect(fresh.expiry(20) == at(105))
        #expect(fresh.expiry(10) == at(100))
        #expect(fresh.expiry(0) == .distantFuture)
        // The clock was set back meanwhile.
        let back = ResourceClock(elapsed: 5, asOf: day, wall: day.addingTimeInterval(-1000), now: at(100))
        #expect(back.elapsed(at(100)) == 5)
        // The clock was set for the first time meanwhile.
        let unset = ResourceClock(elapsed: 5, asOf: Date(timeIntervalSince1970: 60), wall: day, now: at(100))
        #expect(unset.elapsed(at(100)) == 5 && unset.elapsed(at(101)) == 6)
    }

    @Test("a clock that stands still counts nothing, in the process and while there is none")
    func standingClock() {
        let day = Date(timeIntervalSince1970: 1_800_000_000)
        var clock = ResourceClock(elapsed: 5, asOf: day, wall: day.addingTimeInterval(10), now: at(100), runs: false)
        #expect(clock.elapsed(at(200)) == 5 && clock.expiry(20) == .distantFuture)
        clock.setRuns(true, at(200))
        #expect(clock.elapsed(at(201)) == 6 && clock.expiry(20) == at(215))
        clock.setRuns(true, at(202))
        clock.setRuns(false, at(203))
        #expect(clock.elapsed(at(300)) == 8 && clock.expiry(20) == .distantFuture)
    }

    @Test("which errors pass by themselves")
    func errors() {
        func passes(_ error: any Error) -> Bool {
            if case .broken = AttemptFailure(TransferError(error)) { true } else { false }
        }
        #expect(passes(URLError(.networkConnectionLost)) && passes(URLError(.cannotFindHost)))
        #expect(!passes(URLError(.cancelled)) && !passes(URLError(.serverCertificateUntrusted)))
        // The clock of a machine that has just started may be behind until it is set.
        #expect(passes(URLError(.serverCertificateNotYetValid)) && !passes(URLError(.serverCertificateHasBadDate)))
        #expect(!passes(CocoaError(.fileNoSuchFile)))
    }

    @Test("the machine's battery and load")
    func conditions() throws {
        let folder = try TemporaryFolder()
        try folder.write("0.50 0.1 0.1 1/100 1", to: "load")
        func conditions(_ supplies: [String: [String: String]]) throws -> MachineConditions {
            let power = UUID().uuidString
            for (supply, files) in supplies {
                for (name, text) in files { try folder.write(text + "\n", to: "\(power)/\(supply)/\(name)") }
            }
            return MachineConditions(power: folder.file(power).path, load: folder.file("load").path, cores: 1)
        }
        let mains = ["type": "Mains", "online": "1"], unplugged = ["type": "Mains", "online": "0"]
        let empty = ["type": "Battery", "status": "Discharging"]
        #expect(try !conditions([:]).isOnBattery)
        #expect(try !conditions(["AC": mains, "BAT0": empty]).isOnBattery)
        #expect(try conditions(["AC": unplugged, "BAT0": empty]).isOnBattery)
        #expect(try conditions(["BAT0": empty]).isOnBattery)
        #expect(try conditions([:]).areGoodForDiscretionaryWork)
        try folder.write("0.80 0.1 0.1 1/100 1", to: "load")
        #expect(try conditions([:]).isBusy)
    }

    @Test("an unknown boot of the system is none of those before")
    func boots() throws {
        let folder = try TemporaryFolder()
        try folder.write("boot 7\n", to: "boot_id")
        #expect(MachineConditions.bootIdentifier(folder.file("boot_id").path) == "boot 7")
        let unknown = (0..<2).map { _ in MachineConditions.bootIdentifier(folder.file("none").path) }
        #expect(!unknown[0].isEmpty && unknown[0] != unknown[1])
    }
}
