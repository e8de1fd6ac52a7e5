import Foundation
import LoadingKit

/// The disk is full.
struct DiskProbe {
    let loads: Loads
    private let filler: String

    init(_ loads: Loads, _ folder: String) {
        self.loads = loads
        filler = folder + "/filler"
    }

    func run() async throws {
        await load("before")
        fill()
        await load("full")
        unlink(filler)
        await load("after")
        say("partial files \(partialFiles)")
    }

    private func load(_ when: String) async {
        say("\(when) download \(await loads.download("/long"))")
        _ = await loads.text("/set?\(when)")
        say("\(when) cookies \(await loads.text("/cookies"))")
        // Of two loads the second is answered by the cache, which may be told late of what there is to keep.
        let asked = loads.server.requests.snapshot.count
        for _ in 0..<2 { say("\(when) cached \(await loads.text("/cached?\(when)"))") }
        say("\(when) asked \(loads.server.requests.snapshot.count - asked)")
        await withCheckedContinuation { continuation in loads.session.flush { continuation.resume() } }
        let kept = URLCache.shared.currentDiskUsage > 0
        say("\(when) \(kept ? "something" : "nothing") is on disk")
    }

    /// Takes all the room that there is.
    private func fill() {
        let descriptor = open(filler, O_WRONLY | O_CREAT, 0o600)
        for size in [65536, 4096, 1] {
            let bytes = [UInt8](repeating: 0, count: size)
            while write(descriptor, bytes, size) == size {}
        }
        close(descriptor)
    }

    private var partialFiles: Int {
        let folder = NSTemporaryDirectory() + "LoadingKit-\(getuid())"
        // Below a folder for each process.
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return paths.count { $0.contains("/") }
    }
}
