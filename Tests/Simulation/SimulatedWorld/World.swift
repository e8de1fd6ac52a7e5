import CSimulatedSystem
import Dispatch
import Foundation
import LoadingKit
import LoadingKitHTTP

/// What one seed decides: how the networks are, which servers there are, and which clients load what from them.
struct World: Sendable {
    let seed: UInt64
    let network: Network
    let ledger = Ledger()

    /// How long everything may take until nothing is left, on the simulated clock.
    private static let timeToSettle = 3600.0

    /// Lives through a seed, and ends the process.
    static func run(seed: UInt64, isTraced: Bool) -> Never {
        prepare(isTraced)
        sim_begin(seed)
        // This takes time.
        if seed.isMultiple(of: 4) { sim_watch_objects() }
        let world = World(seed: seed, network: Network())
        waitFor { await world.live() }
        end("seed \(seed)", world.network, world.ledger, isTraced)
    }

    /// Prints what was wrong, and ends the process.
    ///
    /// - Parameter status: The process's status where nothing was.
    static func end(
        _ name: String, _ network: Network, _ ledger: Ledger, _ isTraced: Bool, status: Int32 = 0
    ) -> Never {
        let violations = ledger.violations
        for violation in violations { print("\(name): \(violation)") }
        if !violations.isEmpty || isTraced {
            print("\(name): \(network), \(ledger.summary), \(sim_time() / 1_000_000) ms")
            print("\(name): trace \(String(sim_trace_hash(), radix: 16))")
        }
        fflush(nil)
        if violations.isEmpty, status == SeedProcess.endedOnPurpose { sim_leave_disk() }
        _exit(violations.isEmpty ? status : 1)
    }

    static func prepare(_ isTraced: Bool) {
        sim_print_trace(isTraced)
        sim_on_standstill { threads in
            print("standstill:\n\(threads.map { String(cString: $0) } ?? "")")
            fflush(nil)
            _exit(70)
        }
    }

    static func waitFor(_ body: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await body()
            done.signal()
        }
        done.wait()
    }

    private func live() async {
        do {
            // What the process makes once, it has made then.
            try await visit(clients: 1, operations: 2, .clean)
            let before = await settledUsage()
            let objects = LivingObjects()
            try await visit(clients: 1 + Int(sim_random(3)), operations: 4 + Int(sim_random(30)), network)
            compare(before, await settledUsage())
            let left = LivingObjects().since(objects)
            if !left.isEmpty { ledger.violation("these are still alive: \(left.joined(separator: ", "))") }
        } catch {
            ledger.violation("the world could not be made: \(error)")
        }
    }

    /// Servers, and clients that load from them; all are gone in the end.
    private func visit(clients: Int, operations: Int, _ network: Network) async throws {
        let servers = try await Servers.make(ledger, isWorld: true)
        network.begin()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<clients {
                group.addTask {
                    await Client(number, servers, ledger, network).live(operations)
                }
            }
        }
        Network.clean.begin()
        await servers.stop()
        for line in servers.unprotectedCommands { ledger.violation("ftp: \(line)") }
        ledger.forgetRequests()
    }

    private func settledUsage() async -> sim_usage {
        try? await Task.sleep(for: .seconds(Self.timeToSettle))
        return sim_current_usage()
    }

    private func compare(_ before: sim_usage, _ after: sim_usage) {
        if after.connections > before.connections {
            ledger.violation("\(after.connections) ends of connections are left")
        }
        if after.descriptors > before.descriptors {
            ledger.violation("\(after.descriptors) descriptors are open, \(before.descriptors) were")
        }
        if after.threads > before.threads + 1 {
            ledger.violation("\(after.threads) threads are there, \(before.threads) were")
        }
        if sim_wrong_closes() > 0 {
            ledger.violation("\(sim_wrong_closes()) descriptors were closed that were not open")
        }
        if WindowBudget.shared.count > 0 {
            ledger.violation("\(WindowBudget.shared.count) bytes of streams' windows are not given back")
        }
        let left = ledger.living
        if !left.isEmpty { ledger.violation("these are still alive: \(left.joined(separator: ", "))") }
    }
}
