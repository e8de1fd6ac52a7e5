import CMeter

/// A way in which a task makes loads.
public struct LoadLane: Sendable {
    /// Makes one load, and gives its body's length.
    let load: @Sendable () async throws -> Int
    /// Where the task runs that makes the loads; nil: Swift's own executor.
    let executor: (any TaskExecutor)?

    public init(load: @escaping @Sendable () async throws -> Int, executor: (any TaskExecutor)? = nil) {
        self.load = load
        self.executor = executor
    }
}

/// Makes the loads that the process's arguments ask for, so many at a time, and measures them.
public struct LoadLoop: Sendable {
    private let arguments = Arguments.process
    private let lanes: [LoadLane]

    /// - Parameter lanes: The tasks that make the loads have them in turn.
    public init(lanes: [LoadLane]) { self.lanes = lanes }

    public init(load: @escaping @Sendable () async throws -> Int) { self.init(lanes: [LoadLane(load: load)]) }

    /// Warms up, measures, and prints what was measured.
    public func run() async {
        do {
            // Each task makes one load, which opens its connection.
            try await runTasks { try await loadOnce($0) }
            withUnsafePointer(to: arguments.raw) { meter_begin($0) }
            try await runTasks { while meter_take() { try await loadOnce($0) } }
            meter_finish()
        } catch {
            fail("\(error)")
        }
    }

    private func runTasks(_ work: @escaping @Sendable (LoadLane) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<arguments.atATime {
                let lane = lanes[index % lanes.count]
                group.addTask(executorPreference: lane.executor) { try await work(lane) }
            }
            try await group.waitForAll()
        }
    }

    private func loadOnce(_ lane: LoadLane) async throws {
        let start = meter_now()
        let length = try await lane.load()
        withUnsafePointer(to: arguments.raw) { meter_loaded($0, start, length) }
    }
}
