import Dispatch
import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
import Synchronization

/// Runs `load(_:)` of handlers and interceptors on its own threads, and measures how long they are blocked: the time in
/// which a thread neither runs nor waits for a processor.
final class LoadWatch: TaskExecutor {
    private let queue = DispatchQueue(label: "conformance", attributes: .concurrent)
    private let blocked = Mutex(0.0)
    /// The longest call of a function that `register(scheme:_:)` was given, in seconds.
    private let making = Mutex(0.0)

    /// Called when `load(_:)` is about to be.
    let whenLoadBegins: @Sendable (LoadContext) async -> Void

    init(whenLoadBegins: @escaping @Sendable (LoadContext) async -> Void = { _ in }) {
        self.whenLoadBegins = whenLoadBegins
    }

    /// The number of parts of tasks that are run, or wait to be.
    private let parts = Mutex(0)

    /// Seconds since the last call. What a load's last part has measured may come after the load's end.
    func takeBlocked() async -> (inLoads: Double, inFactories: Double) {
        for _ in 0..<2000 where parts.withLock({ $0 > 0 }) { try? await Task.sleep(for: .milliseconds(1)) }
        return (blocked.withLock { exchange(&$0, 0) }, making.withLock { exchange(&$0, 0) })
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        parts.withLock { $0 += 1 }
        queue.async {
            let time = ThreadState.blockedTime { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            self.blocked.withLock { $0 += time }
            self.parts.withLock { $0 -= 1 }
        }
    }

    func install(in configuration: URLSessionConfiguration) {
        configuration.interceptors = configuration.interceptors.map { interceptor in
            interceptor is any LoadAdapter ? interceptor : WatchedInterceptor(base: interceptor, watch: self)
        }
        configuration.mapFactories { make in
            { request in
                var handler = URLProtocolHandler(request: request, cachedResponse: nil, client: nil)
                let time = ThreadState.blockedTime { handler = make(request) }
                self.making.withLock { $0 = max($0, time) }
                return handler.overridesStartLoading ? handler : WatchedHandler(handler, self)
            }
        }
    }
}

private struct WatchedInterceptor: LoadInterceptor {
    let base: any LoadInterceptor
    let watch: LoadWatch

    func canIntercept(_ request: URLRequest) -> Bool { base.canIntercept(request) }

    func load(_ load: LoadContext) async throws {
        await watch.whenLoadBegins(load)
        try await withTaskExecutorPreference(watch) { try await base.load(load) }
    }
}

private final class WatchedHandler: URLProtocolHandler, @unchecked Sendable {  // as its superclass
    private let base: URLProtocolHandler
    private let watch: LoadWatch

    init(_ base: URLProtocolHandler, _ watch: LoadWatch) {
        self.base = base
        self.watch = watch
        super.init(request: base.request, cachedResponse: nil, client: nil)
    }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        base = URLProtocolHandler(request: request, cachedResponse: cachedResponse, client: client)
        watch = LoadWatch()
        super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    override func load(_ load: LoadContext) async throws {
        base.task = load.task
        await watch.whenLoadBegins(load)
        try await withTaskExecutorPreference(watch) { try await base.load(load) }
    }
}

/// The times of a thread, as Linux's scheduler counts them.
private enum ThreadState {
    /// The seconds in which the calling thread runs, or waits for a processor; nil where the system does not say.
    private static var busyTime: Double? {
        // The file's first number is older than the clock, up to a tick.
        var running = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &running) == 0,
            let text = try? String(contentsOfFile: "/proc/thread-self/schedstat", encoding: .utf8),
            let waiting = text.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { return nil }
        return Double(running.tv_sec) + (Double(running.tv_nsec) + waiting) / 1e9
    }

    /// The busy time and the clock's time, read at the same moment; nil where the system does not say. Both are read again if
    /// the thread had to wait for a processor between the two.
    private static var measurement: (busy: Double, time: ContinuousClock.Instant)? {
        for _ in 0..<100 {
            let start = ContinuousClock.now
            guard let busy = busyTime else { return nil }
            let end = ContinuousClock.now
            if end - start < .milliseconds(1) { return (busy, end) }
        }
        return nil
    }

    static func blockedTime(_ body: () -> Void) -> Double {
        let start = measurement
        body()
        guard let start, let end = measurement else { return 0 }
        return max(0, (end.time - start.time) / .seconds(1) - (end.busy - start.busy))
    }
}

private func exchange<Value>(_ value: inout Value, _ new: Value) -> Value {
    defer { value = new }
    return value
}
