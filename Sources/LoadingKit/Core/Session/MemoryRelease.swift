import LoadingKitTransport
import Synchronization

/// Gives memory back to the system when the last of the process's sessions is gone.
///
/// The allocator keeps what loads have freed, in an arena for each of many threads: after tens of thousands of loads of all
/// sizes that is a hundred megabytes of which less than one is in use.
enum MemoryRelease {
    /// How long no session may have been there, in seconds: a program that makes one after the other would only ask for the
    /// memory again.
    private static let delay = 5.0

    private static let sessionCount = Atomic<Int>(0)
    private static let isPending = Atomic<Bool>(false)

    static func sessionWasMade() { sessionCount.wrappingAdd(1, ordering: .relaxed) }

    /// From any thread.
    static func sessionIsGone() {
        guard sessionCount.wrappingSubtract(1, ordering: .relaxed).newValue == 0,
            !isPending.exchange(true, ordering: .relaxed)
        else { return }
        let loop = EventLoop.next()
        loop.execute {
            _ = loop.schedule(at: loop.now.advanced(bySeconds: delay)) {
                isPending.store(false, ordering: .relaxed)
                guard sessionCount.load(ordering: .relaxed) == 0 else { return }
                BlockingPool.shared.run { SystemCalls.releaseFreeMemory() }
            }
        }
    }
}
