import Foundation
import LoadingKit

/// Of this process, in kilobytes.
func residentMemory() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
}

let arguments = CommandLine.arguments
if arguments.count == 3, arguments[1] == "soak" {
    await Soak(try SoakPlan(file: arguments[2])).run()
    exit(0)
}
guard arguments.count == 4, let base = URL(string: arguments[1]), let count = Int(arguments[3]) else {
    print("arguments: URL plain|chaos COUNT, or soak PLAN")
    exit(2)
}
await Chaos(base: base, count: count, isPlain: arguments[2] == "plain").run()
let atEnd = residentMemory()
// Memory goes back to the system some seconds after the last session is gone.
try? await Task.sleep(for: .seconds(10))
print("{\"loads\": \(count), \"atEnd\": \(atEnd), \"later\": \(residentMemory())}")
