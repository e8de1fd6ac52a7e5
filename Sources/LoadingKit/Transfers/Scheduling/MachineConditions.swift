import Foundation

/// The conditions of discretionary transfers, from `/sys/class/power_supply` and `/proc/loadavg`.
package struct MachineConditions: Sendable {
    /// The number of runnable processes per core from which on the machine counts as busy.
    private static let busyLoad = 0.7

    private let power: String
    private let load: String
    private let cores: Int

    /// - Parameters:
    ///   - power: The folder of power supplies.
    ///   - load: The file with the load averages.
    package init(
        power: String = "/sys/class/power_supply", load: String = "/proc/loadavg",
        cores: Int = ProcessInfo.processInfo.activeProcessorCount
    ) {
        self.power = power
        self.load = load
        self.cores = cores
    }

    /// Whether the machine neither runs on its battery nor is busy. May block for a moment.
    package var areGoodForDiscretionaryWork: Bool { !isOnBattery && !isBusy }

    /// Whether the mains supplies give no power, or there are only batteries and one of them is discharging.
    var isOnBattery: Bool {
        let supplies = (try? FileManager.default.contentsOfDirectory(atPath: power)) ?? []
        let online = supplies.filter { Self.line("\(power)/\($0)/type") != "Battery" }
            .compactMap { Self.line("\(power)/\($0)/online") }
        if !online.isEmpty { return !online.contains { $0 != "0" } }
        return supplies.contains { Self.line("\(power)/\($0)/status") == "Discharging" }
    }

    var isBusy: Bool {
        guard let average = Self.line(load)?.split(separator: " ").first.flatMap({ Double($0) }) else { return false }
        return average / Double(max(cores, 1)) > Self.busyLoad
    }

    /// An identifier of the current boot of the system. Where the system gives none, it is this process's own: what another
    /// process has written may have been lost with the power.
    package static func bootIdentifier(_ path: String = "/proc/sys/kernel/random/boot_id") -> String {
        line(path) ?? UUID().uuidString
    }

    private static func line(_ path: String) -> String? {
        (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
