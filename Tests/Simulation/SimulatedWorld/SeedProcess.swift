import CSimulatedSystem
import Foundation

/// One of the processes of a seed, which ends at a time that the seed decides: killed, or with the power. The next one goes
/// on with the files on the disk. The last one ends well.
struct SeedProcess: Sendable {
    /// How many processes a seed has.
    static let count: UInt64 = 5
    /// The status of a process that was ended on purpose.
    static let endedOnPurpose: Int32 = 75

    let seed: UInt64
    let number: UInt64
    /// The folder whose files are lost with the power.
    let disk = FileManager.default.temporaryDirectory
    /// Whether the process before this one was killed: what it had not synchronized is in the system's memory.
    let followsKill: Bool

    /// - Parameter number: The seed times ``count``, and the process's number. Made before the simulation begins.
    init(_ number: UInt64) {
        (seed, self.number) = (number / Self.count, number % Self.count)
        let kept = disk.deletingLastPathComponent().appendingPathComponent("kept")
        followsKill = FileManager.default.fileExists(atPath: kept.appendingPathComponent("memory").path)
        _ = mkdir(kept.path, 0o700)
    }

    var isLast: Bool { number == Self.count - 1 }
    /// The status of this process where nothing was wrong.
    var status: Int32 { isLast ? 0 : Self.endedOnPurpose }
    /// Beside the disk: its files stay.
    var folder: URL { disk.deletingLastPathComponent() }
    private var kept: URL { folder.appendingPathComponent("kept") }

    func useDisk() { sim_use_disk(disk.path, kept.path) }

    /// - Parameter seconds: The process ends within this time, unless it has changed too many files before.
    /// - Returns: Whether the power is lost.
    func chooseEnd(seconds: UInt64) -> Bool {
        let changes = [UInt64(30), 300, 3000][Int(sim_random(3))]
        let losesPower = sim_random(2) == 0
        sim_end_process(sim_random(changes), sim_random(seconds) * 1_000_000_000, losesPower)
        return losesPower
    }

    /// The files on the disk, by their paths in it.
    var files: [String] {
        FileManager.default.enumerator(atPath: disk.path)?.compactMap { $0 as? String } ?? []
    }
}
