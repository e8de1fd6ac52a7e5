import CSimulatedSystem

/// How many objects of each class of the library and of the world are alive, and how many allocations of each C library.
struct LivingObjects {
    /// What a process keeps, with how many there may be more than before: one of each, one for each event loop, and the algorithms
    /// that OpenSSL has looked up. A connection with TLS has 60 allocations.
    private static let kept = [
        "LoadingKitCore.DownloadFolder": 1, "LoadingKitTransport.BlockingPool": 5,
        "LoadingKitTransport.ResumptionPool": 1, "LoadingKitTransport.TLSSessionTable": 1,
        "LoadingKitHTTP.WindowBudget": 4,
        "Swift.TaskLocal<Swift.Optional<LoadingKitCore.AsynchronousCall>>": 1, "libcrypto": 400,
    ]

    private final class Counts { var counts: [String: Int] = [:] }
    private let counts: [String: Int]

    init() {
        let counts = Counts()
        sim_living_objects(Unmanaged.passUnretained(counts).toOpaque()) { context, metadata, library, count in
            guard let context else { return }
            let name =
                library.map { String(cString: $0) }
                ?? metadata.map { _typeName(unsafeBitCast($0, to: Any.Type.self), qualified: true) } ?? ""
            Unmanaged<Counts>.fromOpaque(context).takeUnretainedValue().counts[name, default: 0] += Int(count)
        }
        self.counts = counts.counts
    }

    /// Those that were not there before.
    func since(_ before: LivingObjects) -> [String] {
        counts.filter { Self.isWatched($0.key) }.compactMap { name, count in
            let added = count - before.counts[name, default: 0]
            return added > Self.kept[name, default: 0] ? "\(added) of \(name)" : nil
        }.sorted()
    }

    /// Foundation keeps objects of its own.
    private static func isWatched(_ name: String) -> Bool {
        ["LoadingKit", "SimulatedWorld", "lib"].contains { name.contains($0) }
    }
}
