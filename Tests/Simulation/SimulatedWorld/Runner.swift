import CSimulatedSystem
import Glibc

/// What a process does.
enum Mode: String {
    case world = "--world"
    case faults = "--fault"

    /// Does what belongs to a seed or to a scenario, and ends the process.
    func run(_ number: UInt64, isTraced: Bool) -> Never {
        switch self {
        case .world: World.run(seed: number, isTraced: isTraced)
        case .faults: FaultRun.run(scenario: Int(number), isTraced: isTraced)
        }
    }
}

/// Runs seeds one after another, each in a process of its own.
struct Runner {
    private var first: UInt64 = 1
    private var last = UInt64.max
    /// No seed is begun after this many seconds.
    private var seconds = Int.max
    private var isTraced = false
    private var mode = Mode.world
    /// The longest that a seed may take, in seconds.
    private static let limit: Int32 = 900

    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--seeds":
                let parts = (rest.popFirst() ?? "").split(separator: "-").compactMap { UInt64($0) }
                first = parts.first ?? 1
                last = parts.last ?? first
            case "--seconds": seconds = Int(rest.popFirst() ?? "") ?? 120
            case "--trace": isTraced = true
            case "--faults":
                mode = .faults
                (first, last) = (0, UInt64(FaultRun.scenarios.count - 1))
                if let number = rest.first.flatMap({ UInt64($0) }) { (first, last) = (number, number) }
            default: break
            }
        }
        if last == .max, seconds == .max { last = 100 }
    }

    /// Returns the status of the process: 0 where no seed has failed.
    func run() -> Int32 {
        let folder = strdup("/tmp/simulated-world.XXXXXX")
        guard let folder, mkdtemp(folder) != nil else { return 2 }
        defer {
            rmdir(folder)
            free(folder)
        }
        if !sim_has_fixed_addresses() { print("addresses differ from run to run here, and so may traces") }
        let start = time(nil)
        var failures = 0
        var seed = first
        while seed <= last, time(nil) - start < seconds {
            fflush(nil)
            let status = sim_run(mode.rawValue, seed, isTraced, folder, Self.limit)
            if status != 0 {
                print("\(mode == .world ? "seed" : "scenario") \(seed) failed: \(Self.meaning(of: status))")
                failures += 1
            }
            seed += 1
        }
        print("\(seed - first) \(mode == .world ? "seeds" : "scenarios"), \(failures) failed, \(time(nil) - start) s")
        return failures == 0 ? 0 : 1
    }

    private static func meaning(of status: Int32) -> String {
        switch status {
        case 1: "something was not as it must be"
        case 70: "all threads wait, and nothing will happen"
        case -1: "it took too long"
        case 129...: "signal \(status - 128)"
        default: "status \(status)"
        }
    }
}
