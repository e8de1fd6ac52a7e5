import CSimulatedSystem

/// How the networks of a world are.
struct Network: Sendable, CustomStringConvertible {
    private var latency: (UInt32, UInt32)
    private var bandwidth: (UInt32, UInt32)
    private var loss: UInt32 = 0
    private var resets: UInt32 = 0
    private var ends: UInt32 = 0
    private var silences: UInt32 = 0
    private var refusals: UInt32 = 0
    private var unanswered: UInt32 = 0
    private var shortTransfers: UInt32 = 0

    /// Whether every load must succeed that the program lets end.
    var isReliable: Bool { !hasFaults && resets + ends + silences + refusals + unanswered == 0 }

    /// Whether a connection may fall silent, without a word to either end.
    var mayFallSilent: Bool { silences > 0 }

    /// Whether a connection may end in a proper way that neither end has chosen.
    var mayEnd: Bool { ends > 0 }

    private init(_ latency: (UInt32, UInt32), _ bandwidth: (UInt32, UInt32)) {
        self.latency = latency
        self.bandwidth = bandwidth
    }

    /// Whether calls fail on purpose.
    private(set) var hasFaults = false
    private var fileErrors: UInt32 = 0
    private var lacksDescriptors: UInt32 = 0
    private var lacksThreads: UInt32 = 0
    /// Calls of files that take long.
    private var slowFiles: UInt32 = 0

    static let clean = Network((50, 200), (100_000, 100_000))

    /// A network that does all well, below calls that fail.
    static var faulty: Network {
        var network = clean
        network.hasFaults = true
        return network
    }

    /// A network that the seed chooses: near or far, reliable or not.
    init() {
        switch sim_random(3) {
        case 0: self.init((50, 500), (50_000, 1_000_000))
        case 1: self.init((5_000, 40_000), (1_000, 50_000))
        default: self.init((100, 300_000), (50, 10_000))
        }
        loss = Self.chosen(of: 0, 0, 10, 100)
        shortTransfers = Self.chosen(of: 0, 100, 500)
        if sim_random(4) == 0 {
            fileErrors = Self.chosen(of: 0, 20, 300)
            lacksDescriptors = Self.chosen(of: 0, 20, 300)
            lacksThreads = Self.chosen(of: 0, 20, 300)
            hasFaults = fileErrors + lacksDescriptors + lacksThreads > 0
        }
        if sim_random(4) == 0 { slowFiles = Self.chosen(of: 50, 1000) }
        guard sim_random(2) == 0 else { return }
        resets = Self.chosen(of: 0, 30, 200)
        ends = Self.chosen(of: 0, 30, 200)
        silences = Self.chosen(of: 0, 20, 100)
        refusals = Self.chosen(of: 0, 20, 200)
        unanswered = Self.chosen(of: 0, 0, 50)
    }

    private static func chosen(of values: UInt32...) -> UInt32 { values[Int(sim_random(UInt64(values.count)))] }

    /// The connections that are opened from now on are of this network.
    func begin() {
        var network = sim_network(
            least_latency: latency.0, greatest_latency: latency.1, least_bandwidth: bandwidth.0,
            greatest_bandwidth: bandwidth.1, loss: loss, resets: resets, ends: ends, silences: silences,
            refusals: refusals, unanswered: unanswered, short_transfers: shortTransfers)
        sim_set_network(&network)
        var faults = sim_faults(
            file_errors: fileErrors, no_descriptors: lacksDescriptors, no_threads: lacksThreads, slow_files: slowFiles)
        sim_set_faults(&faults)
    }

    var description: String {
        "latency \(latency) µs, bandwidth \(bandwidth) kB/s, loss \(loss), resets \(resets), ends \(ends), silences \(silences), "
            + "refusals \(refusals), unanswered \(unanswered), short transfers \(shortTransfers), file errors \(fileErrors), "
            + "no descriptors \(lacksDescriptors), no threads \(lacksThreads), slow files \(slowFiles)"
    }
}
