import CLoadingKitShims
import Foundation

/// Threads for event loops and for work that blocks.
enum LoopThread {
    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Runs `body` on a thread of its own. False when the system gives none.
    @discardableResult
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let start = Unmanaged.passRetained(Start(name, body))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                LoopThread.blockSignals()
                LK_set_thread_name(String(start.name.prefix(15)))
                start.body()
                return nil
            }, start.toOpaque())
        if result != 0 { start.release() }
        return result == 0
    }

    /// The program's signal handlers run on its own threads; and writing to a connection that the other side has
    /// closed gives an error here, not SIGPIPE.
    private static func blockSignals() {
        var signals = sigset_t()
        sigfillset(&signals)
        for fatal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&signals, fatal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
