import Glibc
import LoadingKitPrimitives

/// A separate thread for blocking work, with SIGPIPE blocked: writing to a closed connection is an error and does not
/// end the process, which includes OpenSSL's plain `write`.
package final class WorkerThread: Sendable {
    /// Sufficient for OpenSSL's handshake and a route's closure; a thousand stacks use 256 MiB of addresses, not of
    /// memory.
    static let stackBytes = 256 << 10

    /// Nil once it is joined.
    private let thread: Guarded<pthread_t?>

    /// Makes a thread, which starts at once.
    package init(_ body: @escaping @Sendable () -> Void) throws(SocketError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackBytes)

        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                WorkerThread.blockBrokenPipeSignal()
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw SocketError(operation: "pthread_create", code: code)
        }
        self.thread = Guarded(thread)
    }

    /// Waits until the thread has ended. Must not be called on the thread itself.
    package func join() {
        if let thread = self.thread.withLock({ $0.take() }) { pthread_join(thread, nil) }
    }

    /// Blocks SIGPIPE for the calling thread.
    package static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
