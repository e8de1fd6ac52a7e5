import CMeter

/// Makes the loads that the process's arguments ask for, so many at a time, and measures them.
public struct LoadLoop: Sendable {
    private let arguments = Arguments.process
    /// Makes one load, and gives its body's length.
    private let load: @Sendable () async throws -> Int
    /// Where the tasks run that make the loads; nil: Swift's own executor.
    private let executor: (any TaskExecutor)?

    public init(on executor: (any TaskExecutor)? = nil, load: @escaping @Sendable () async throws -> Int) {
        self.executor = executor
        self.load = load
    }

    /// Warms up, measures, and prints what was measured.
    public func run() async {
        do {
            // Each task makes one load, which opens its connection.
            try await runTasks { try await loadOnce() }
            withUnsafePointer(to: arguments.raw) { meter_begin($0) }
            try await runTasks { while meter_take() { try await loadOnce() } }
            meter_finish()
        } catch {
            fail("\(error)")
        }
    }

    private func runTasks(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<arguments.atATime { group.addTask(executorPreference: executor) { try await work() } }
            try await group.waitForAll()
        }
    }

    private func loadOnce() async throws {
        let start = meter_now()
        let length = try await load()
        withUnsafePointer(to: arguments.raw) { meter_loaded($0, start, length) }
    }
}
