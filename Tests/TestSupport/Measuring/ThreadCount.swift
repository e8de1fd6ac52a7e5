import Foundation

/// How many threads this process has.
package enum ThreadCount {
    package static func current() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
}
