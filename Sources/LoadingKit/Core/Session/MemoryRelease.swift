import LoadingKitTransport
import Synchronization

/// Returns memory to the system when the process's last session is gone.
///
/// The allocator keeps the memory that loads have freed, in arenas for many threads. After tens of thousands of loads
/// of all sizes the arenas have a hundred megabytes, of which less than one is in use.
final class MemoryRelease: Sendable {
    /// The time without any session, in seconds. A program that makes one session after another would need the memory
    /// again at once.
    static let delay = 5.0

    static let shared = MemoryRelease(
        { EventLoop.next() },
        {
            BlockingPool.shared.run {
                ChunkPool.ofProcess.releaseKept()
                SystemCalls.releaseFreeMemory()
            }
        })

    private let sessionCount = Atomic<Int>(0)
    private let isPending = Atomic<Bool>(false)
    private let nextLoop: @Sendable () -> EventLoop
    private let release: @Sendable () -> Void

    /// - Parameters:
    ///   - nextLoop: returns the event loop that waits.
    ///   - release: returns the memory to the system.
    init(_ nextLoop: @escaping @Sendable () -> EventLoop, _ release: @escaping @Sendable () -> Void) {
        self.nextLoop = nextLoop
        self.release = release
    }

    func sessionWasMade() { sessionCount.wrappingAdd(1, ordering: .relaxed) }

    /// Called from any thread.
    func sessionIsGone() {
        guard sessionCount.wrappingSubtract(1, ordering: .relaxed).newValue == 0,
            !isPending.exchange(true, ordering: .relaxed)
        else { return }
        let loop = nextLoop()
        loop.execute { [self] in
            _ = loop.schedule(at: loop.now.advanced(bySeconds: Self.delay)) { [self] in
                isPending.store(false, ordering: .relaxed)
                if sessionCount.load(ordering: .relaxed) == 0 { release() }
            }
        }
    }
}
