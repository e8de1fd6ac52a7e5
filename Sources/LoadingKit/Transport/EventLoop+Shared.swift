import Glibc
import Synchronization

extension EventLoop {
    /// The process's loops: one a core, four at most.
    private static let shared: [EventLoop] = {
        let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        return (0..<min(cores, 4)).map { EventLoop(name: "LoadingKit-\($0)") }
    }()

    private static let turn = Atomic<Int>(0)

    /// One of the process's shared loops, in turn. They start when the first is asked for, and never stop.
    package static func next() -> EventLoop {
        let ticket = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return shared[Int(UInt(bitPattern: ticket) % UInt(shared.count))]
    }
}
