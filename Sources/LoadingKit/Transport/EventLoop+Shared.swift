import Foundation
import Synchronization

extension EventLoop {
    /// The most loops that a process has.
    private static let maximumCount = 4

    private static let shared: [EventLoop] = {
        let count = min(max(ProcessInfo.processInfo.activeProcessorCount, 1), maximumCount)
        return (0..<count).map { EventLoop(name: "LoadingKit-\($0)") }
    }()

    private static let turn = Atomic<Int>(0)

    /// One of the process's loops, in turn. They are made when the first is asked for, and never end.
    package static func next() -> EventLoop {
        let loops = shared
        let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[abs(index % loops.count)]
    }
}
