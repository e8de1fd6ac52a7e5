import CSimulatedSystem
import Foundation

/// What a process does.
enum Mode: String {
    case world = "--world"
    case background = "--process"
    case stores = "--store-process"
    case faults = "--fault"

    /// Does what belongs to a seed or to a scenario, and ends the process.
    func run(_ number: UInt64, isTraced: Bool) -> Never {
        switch self {
        case .world: World.run(seed: number, isTraced: isTraced)
        case .background: BackgroundLife.run(number, isTraced: isTraced)
        case .stores: StoresLife.run(number, isTraced: isTraced)
        case .faults: FaultRun.run(scenario: Int(number), isTraced: isTraced)
        }
    }

    fileprivate var name: String {
        switch self {
        case .world: "seed"
        case .background: "background seed"
        case .stores: "seed of stores"
        case .faults: "scenario"
        }
    }

    /// Whether a number has several processes, one after another.
    fileprivate var hasProcesses: Bool { self == .background || self == .stores }

    /// The modes whose seeds an option chooses.
    fileprivate static let options: [String: Mode] = [
        "--seeds": .world, "--background": .background, "--stores": .stores,
    ]
}

/// Runs seeds one after another, each in processes of its own.
struct Runner {
    private var first: UInt64 = 1
    private var last = UInt64.max
    /// No seed is begun after this many seconds.
    private var seconds = Int.max
    private var isTraced = false
    /// What each number is run as.
    private var modes: [Mode] = [.world, .background, .stores]
    /// The longest that a process may take, in seconds.
    private static let limit: Int32 = 900

    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--seeds", "--background", "--stores":
                modes = Mode.options[option].map { [$0] } ?? modes
                let parts = (rest.popFirst() ?? "").split(separator: "-").compactMap { UInt64($0) }
                first = parts.first ?? 1
                last = parts.last ?? first
            case "--seconds": seconds = Int(rest.popFirst() ?? "") ?? 120
            case "--trace": isTraced = true
            case "--faults":
                modes = [.faults]
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
            try? FileManager.default.removeItem(atPath: String(cString: folder))
            free(folder)
        }
        if !sim_has_fixed_addresses() { print("addresses differ from run to run here, and so may traces") }
        let start = time(nil)
        var (count, failures) = (0, 0)
        var seed = first
        while seed <= last, time(nil) - start < seconds {
            for mode in modes {
                fflush(nil)
                count += 1
                let status = run(mode, seed, String(cString: folder))
                guard status != 0 else { continue }
                print("\(mode.name) \(seed) failed: \(Self.meaning(of: status))")
                failures += 1
            }
            seed += 1
        }
        print("\(count) \(modes == [.faults] ? "scenarios" : "seeds"), \(failures) failed, \(time(nil) - start) s")
        return failures == 0 ? 0 : 1
    }

    /// In a folder of the seed's own.
    private func run(_ mode: Mode, _ seed: UInt64, _ folder: String) -> Int32 {
        let own = folder + "/seed/disk"
        try? FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder + "/seed") }
        guard mode.hasProcesses else { return sim_run(mode.rawValue, seed, isTraced, own, Self.limit) }
        for process in 0..<SeedProcess.count {
            let number = seed * SeedProcess.count + process
            let status = sim_run(mode.rawValue, number, isTraced, own, Self.limit)
            if status != SeedProcess.endedOnPurpose { return status }
        }
        return SeedProcess.endedOnPurpose
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
