import Foundation
import LoadingKit

/// Bodies that are larger than the memory there is.
struct MemoryProbe {
    let loads: Loads

    init(_ loads: Loads) { self.loads = loads }

    func run() async throws {
        say("before \(await loads.text("/"))")
        // The loads that go on meanwhile have threads, and their stacks, already.
        async let warm = (loads.text("/"), loads.text("/"), loads.text("/"), loads.download("/long"))
        _ = await warm
        Limit.memory(256 << 20)
        async let large = (loads.text("/large"), loads.text("/large"))
        for _ in 0..<20 {
            let small = await loads.text("/")
            if small != "hello" { say("small \(small)") }
        }
        for result in [await large.0, await large.1] { say("large \(result)") }
        say("small \(await loads.text("/"))")
        say("download \(await loads.download("/long"))")
        Limit.memory(nil)
        say("after \(await loads.text("/large"))")
    }
}
