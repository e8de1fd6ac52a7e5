import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport

/// Runs `body` with a loop of its own, which ends with it.
func withLoop<R: Sendable>(
    _ time: TimeSource = .system, _ body: (EventLoop) async throws -> R
) async rethrows -> R {
    let loop = EventLoop(name: "test", time: time, idleConnections: IdleConnections(limit: 8))
    do {
        let result = try await body(loop)
        loop.stop()
        return result
    } catch {
        loop.stop()
        throw error
    }
}

extension EventLoop {
    /// Runs `body` on the loop, and gives what it gave.
    func run<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { continuation in
            execute { continuation.resume(returning: body()) }
        }
    }
}

/// A value that belongs to a loop, held by a test that uses it there alone.
final class OnLoop<Value>: @unchecked Sendable {  // used by work on one loop only
    var value: Value

    init(_ value: Value) { self.value = value }
}

/// A gate that blocking peers wait at. Gives up after two minutes, so that a failing test ends.
final class Gate: Sendable {
    private let semaphore: Semaphore

    init() { semaphore = Semaphore() }

    func open() { semaphore.signal() }

    @discardableResult
    func wait() -> Bool { semaphore.wait(seconds: 120) }

    /// For asynchronous tests: their threads are few, and must not block.
    @discardableResult
    func passed() async -> Bool { (try? await onThread { self.wait() }) ?? false }
}
