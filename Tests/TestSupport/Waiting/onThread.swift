import LoadingKitLoopbackServer

/// Runs blocking work on a thread of its own, so that no thread of the concurrency pool blocks.
///
/// Expectations belong outside: there the testing library does not know which test they are of.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    let box = Box<Swift.Result<Result, any Error>?>(nil)
    let done = Signal()
    let thread = try WorkerThread {
        box.value = Swift.Result(catching: body)
        done.fire()
    }
    // Not to be left early when the task is cancelled: the work may use what the caller frees afterwards.
    await Task { await done.wait() }.value
    thread.join()
    guard let result = box.value else { throw CancellationError() }
    return try result.get()
}
