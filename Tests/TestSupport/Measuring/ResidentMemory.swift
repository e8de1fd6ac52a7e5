import Foundation

/// How much memory this process holds, in bytes, as Linux counts it.
package enum ResidentMemory {
    /// Now (VmRSS).
    package static func current() throws -> Int { try read("VmRSS:") }

    /// The most since the process began or the last `resetPeak()` (VmHWM).
    package static func peak() throws -> Int { try read("VmHWM:") }

    /// Makes the peak what is held now.
    package static func resetPeak() throws {
        // 5 resets the peak (proc(5)).
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }

    private static func read(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix(name) {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            if words.count == 3, let kibibytes = Int(words[1]) { return kibibytes * 1024 }
        }
        throw CocoaError(.fileReadCorruptFile)
    }
}
