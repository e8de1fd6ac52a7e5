import Foundation
import Glibc

/// The memory, descriptors and threads of this process.
struct SoakProcess {
    /// In kilobytes.
    let memory = residentMemory()
    let descriptors = SoakProcess.count("fd")
    let threads = SoakProcess.count("task")

    private static func count(_ folder: String) -> Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)")) ?? []).count
    }

    /// The medians of several samples.
    static func medians(_ samples: [SoakProcess]) -> [String: Int] {
        [
            "memory": median(samples.map(\.memory)), "descriptors": median(samples.map(\.descriptors)),
            "threads": median(samples.map(\.threads)),
        ]
    }

    private static func median(_ values: [Int]) -> Int { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
}

/// Prints a line of JSON at once.
func printLine(_ values: [String: Any]) {
    guard let data = try? JSONSerialization.data(withJSONObject: values, options: .sortedKeys) else { return }
    print(String(decoding: data, as: UTF8.self))
    fflush(nil)
}
